import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';

/** The folder that the documentation's pictures are written to, by `npm run demo -- pictures`. */
const folder = process.env.PICTURES;
/** A picture shows no more of a long page than this, in pixels. */
const maxHeight = 1_500;
const quality = 72;

/**
 * Writes a picture of a page from its top, as WebP, when `PICTURES` names a folder. The name is a
 * surface and a page with the form it is shown in, such as `console/orders-390-dark`.
 */
export async function picture(page: Page, name: string): Promise<void> {
  if (folder === undefined) return;
  const session = await page.context().newCDPSession(page);
  const { cssContentSize } = await session.send('Page.getLayoutMetrics');
  const { width } = page.viewportSize() ?? cssContentSize;
  const height = Math.min(maxHeight, Math.max(cssContentSize.height, page.viewportSize()?.height ?? 0));
  const { data } = await session.send('Page.captureScreenshot', {
    format: 'webp',
    quality,
    clip: { x: 0, y: 0, width, height, scale: 1 },
    captureBeyondViewport: true,
  });
  await session.detach();
  const path = join(folder, `${name}.webp`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, Buffer.from(data, 'base64'));
}
