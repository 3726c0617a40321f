// Reads a Compose file the way `docker compose` does, and prints what would run as JSON.
//
//	compose-check <file> [profile...]
//
// Exit code 1 and a line on standard error: the file breaks the schema or contradicts itself.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	if err := check(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func check(file string, profiles []string) error {
	options, err := cli.NewProjectOptions([]string{file},
		cli.WithWorkingDirectory(filepath.Dir(file)),
		cli.WithOsEnv, cli.WithEnvFiles(), cli.WithDotEnv,
		cli.WithDefaultProfiles(profiles...))
	if err != nil {
		return err
	}
	project, err := options.LoadProject(context.Background())
	if err != nil {
		return err
	}
	json, err := project.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(json)
	return err
}
