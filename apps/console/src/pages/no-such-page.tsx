import { Page } from "../parts/page.tsx";

export function NoSuchPage() {
  return (
    <Page title="There is no such page">
      <p>
        <a href="#/">To the first page</a>
      </p>
    </Page>
  );
}
