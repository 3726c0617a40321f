/** Converts a picture to WebP in the browser: a quarter of a PNG's bytes. */
import { type Page } from "playwright-core";

const quality = 0.85;

export async function asWebp(beside: Page, png: Buffer): Promise<Buffer> {
  // A page of its own, without the policy of the console's.
  const page = await beside.context().newPage();
  const encoded = await page.evaluate(
    `(async () => {
      const image = new Image();
      image.src = "data:image/png;base64,${png.toString("base64")}";
      await image.decode();
      const canvas = document.createElement("canvas");
      canvas.width = image.width;
      canvas.height = image.height;
      canvas.getContext("2d").drawImage(image, 0, 0);
      return canvas.toDataURL("image/webp", ${quality});
    })()`,
  );
  await page.close();
  return Buffer.from(String(encoded).split(",").at(1) ?? "", "base64");
}
