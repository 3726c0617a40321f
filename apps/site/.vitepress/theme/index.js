import DefaultTheme from "vitepress/theme";
import { h } from "vue";
import Front from "./Front.vue";
import VersionMenu from "./VersionMenu.vue";
import VersionNote from "./VersionNote.vue";
import "./style.css";

export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, undefined, {
      "nav-bar-title-after": () => h(VersionMenu),
      "doc-before": () => h(VersionNote),
    }),
  enhanceApp: ({ app }) => app.component("Front", Front),
};
