// Reads the versions that the site has now: an older one was built when there were fewer.
import { useData } from "vitepress";
import { onMounted, ref } from "vue";

/** Held for all parts of a page. */
let asked;

export function useVersions() {
  const { theme } = useData();
  const { version, siteBase } = theme.value;
  const versions = ref([version]);
  onMounted(async () => {
    asked ??= fetch(`${siteBase}versions.json`).then((answer) => answer.json());
    versions.value = await asked.catch(() => [version]);
  });
  return { version, siteBase, versions };
}

/** Returns the address of the same page in another version, or of its front page if it has no such page. */
export async function sameIn(siteBase, version, other) {
  const here = location.pathname.slice(`${siteBase}${version}/`.length);
  const there = `${siteBase}${other}/`;
  const answer = await fetch(there + here, { method: "HEAD" }).catch(() => undefined);
  return answer?.ok ? there + here : there;
}
