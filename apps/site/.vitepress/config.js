// The configuration of VitePress for one version. src/main.ts writes POSTHASTE_SITE, which describes that version.
import { slugOf } from "../../../scripts/links.ts";

const site = JSON.parse(process.env.POSTHASTE_SITE);

export default {
  title: "Posthaste",
  description: "Self-hosted HTTP message delivery and durable workflow runs.",
  lang: "en",
  base: `${site.base}${site.version}/`,
  srcDir: site.srcDir,
  outDir: site.outDir,
  cacheDir: site.cacheDir,
  // Links work on any server of files, and from a folder.
  cleanUrls: false,
  head: [
    ["link", { rel: "icon", href: `${site.base}${site.version}/icon.svg`, type: "image/svg+xml" }],
    ["meta", { name: "theme-color", content: "#1c5bb0" }],
  ],
  markdown: {
    anchor: { slugify: slugOf },
    // Braces in a page are text. The pages of the API are generated, and name their anchors.
    attrs: { leftDelimiter: "{:", rightDelimiter: "}" },
    theme: { light: "github-light-high-contrast", dark: "github-dark" },
  },
  // The index of the search is one file.
  vite: { build: { chunkSizeWarningLimit: 8_192 } },
  themeConfig: {
    logo: "/icon.svg",
    version: site.version,
    siteBase: site.base,
    nav: site.bar.map(({ text, link }) => ({ text, link })),
    sidebar: site.sidebar,
    outline: { level: [2, 3], label: "On this page" },
    search: {
      provider: "local",
      options: {
        miniSearch: {
          searchOptions: {
            // A short word with a letter changed is another word.
            fuzzy: (term) => (term.length > 5 ? 0.2 : false),
            // Guides come before reference.
            boostDocument: (page) => (/\/(?:api|adr|design|measured)\//.test(page) ? 0.5 : 1),
          },
        },
      },
    },
    notFound: {
      title: "No such page",
      quote: "The address may be of another version.",
      linkText: "To the front page",
    },
    socialLinks: [{ icon: "github", link: site.homepage, ariaLabel: "The repository" }],
    editLink: { pattern: ({ frontmatter }) => frontmatter.source, text: "The source of this page" },
    docFooter: { prev: "Before", next: "After" },
    footer: { message: "Apache-2.0" },
  },
};
