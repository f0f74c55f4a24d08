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
  // The session stays: its end would take the virtual devices for passkeys away.
  const window = page.viewportSize() ?? { width: 1_280, height: 900 };
  const { cssContentSize } = await session.send('Page.getLayoutMetrics');
  const height = Math.min(maxHeight, Math.max(cssContentSize.height, window.height));
  await page.setViewportSize({ width: window.width, height });
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality });
  await page.setViewportSize(window);
  const path = join(folder, `${name}.webp`);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, Buffer.from(data, 'base64'));
}
