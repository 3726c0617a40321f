import { Page } from "../parts/page.tsx";

export function NoSuchPage() {
  return (
    <Page title="Page not found">
      <p>
        <a href="#/">Go to the first page</a>
      </p>
    </Page>
  );
}
