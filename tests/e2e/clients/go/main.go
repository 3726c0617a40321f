// Calls each method of the Go client against a server.
//
// Environment: QSTASH_URL, QSTASH_TOKEN, DESTINATION (a URL to which a path can be added; /go/broken answers 404).
// Prints one line of JSON for each method: {"method": "Queues.Get", "error": null or a text}. A method of the client that no
// journey calls has the error "not called". With an argument `verify`: see verify.go.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sort"
	"time"

	"github.com/upstash/qstash-go"
)

const (
	patience = 60 * time.Second
	farCron  = "0 0 1 1 *"
)

// refused ends a journey whose last call did not do what it should.
var refused = errors.New("refused")

type driver struct {
	client *qstash.Client
	errors map[string]*string
}

func newDriver(client *qstash.Client) *driver {
	on := &driver{client: client, errors: map[string]*string{}}
	for name, api := range map[string]any{
		"Client": client, "Messages": client.Messages(), "Queues": client.Queues(), "Schedules": client.Schedules(),
		"UrlGroups": client.UrlGroups(), "Dlq": client.Dlq(), "Events": client.Events(), "Keys": client.Keys(),
	} {
		methods := reflect.TypeOf(api)
		for i := range methods.NumMethod() {
			// Methods of the client without arguments return the other APIs.
			if method := methods.Method(i); name != "Client" || method.Type.NumIn() > 1 {
				on.fails(name+"."+method.Name, "not called")
			}
		}
	}
	return on
}

func (on *driver) fails(method string, reason string) { on.errors[method] = &reason }

// is records the outcome of the method, and ends the journey unless it is as expected.
func (on *driver) is(method string, err error, isSo bool, found any) {
	if err != nil {
		on.fails(method, err.Error())
		panic(refused)
	}
	if !isSo {
		on.fails(method, fmt.Sprintf("returned %+v", found))
		panic(refused)
	}
	if previous := on.errors[method]; previous == nil || *previous == "not called" {
		on.errors[method] = nil
	}
}

func (on *driver) eventually(method string, look func() (isSo bool, found any, err error)) {
	for until := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		isSo, found, err := look()
		if isSo || err != nil || time.Now().After(until) {
			on.is(method, err, isSo, found)
			return
		}
	}
}

func (on *driver) run(journey func(*driver)) {
	defer func() {
		if reason := recover(); reason != nil && reason != refused {
			panic(reason)
		}
	}()
	journey(on)
}

func url(path string) string { return os.Getenv("DESTINATION") + "/go" + path }

func main() {
	if len(os.Args) > 1 && os.Args[1] == "verify" {
		verify()
		return
	}
	on := newDriver(qstash.NewClientWithEnv())
	for _, journey := range []func(*driver){messages, batches, queues, schedules, groups, deadLetters, events, canceling, keys} {
		on.run(journey)
	}
	methods := make([]string, 0, len(on.errors))
	for method := range on.errors {
		methods = append(methods, method)
	}
	sort.Strings(methods)
	for _, method := range methods {
		line, _ := json.Marshal(map[string]any{"method": method, "error": on.errors[method]})
		fmt.Println(string(line))
	}
}
