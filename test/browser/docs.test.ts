import { readdirSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { describeInBrowser, launchChromium } from '../support/staff/chromium.ts';
import { axeFaults, overflow } from '../support/staff/console.ts';
import { picture } from '../support/staff/pictures.ts';

const guides = readdirSync('docs/partners').map((name) => `docs/guides/${name.replace(/\.md$/, '')}`);
const themes = ['light', 'dark'] as const;
const widths = [390, 1280] as const;

describeInBrowser('the documentation', () => {
  let gateway: TestGateway;
  let browser: Browser;
  let context: BrowserContext | undefined;
  const complaints: string[] = [];
  const hosts = new Set<string>();

  beforeAll(async () => {
    gateway = await startGateway();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });
  afterEach(async () => {
    await context?.close();
    expect(complaints.splice(0)).toEqual([]);
    expect([...hosts]).toEqual([new URL(gateway.app.restUrl ?? '').host]);
  });

  async function open(path: string, theme: (typeof themes)[number], width: number, bypassCSP = false): Promise<Page> {
    context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme, bypassCSP });
    const page = await context.newPage();
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).host);
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(`${gateway.app.restUrl}/api/v1/${path}`);
    if (path === 'docs') await page.locator('.opblock').first().waitFor();
    return page;
  }

  describe.each(themes)('in %s', (theme) => {
    it.each(guides)('%s has no fault that axe finds, and fits a telephone', async (path) => {
      for (const width of widths) {
        const page = await open(path, theme, width, true);
        await picture(page, `guides/${path.split('/').pop()}-${width}-${theme}`);
        expect(await overflow(page)).toBe(0);
        expect(await axeFaults(page)).toEqual([]);
        await context?.close();
      }
    });

    it('the reference breaks no policy in any of its panels, and fits its window', async () => {
      const width = theme === 'light' ? 1280 : 390;
      const page = await open('docs', theme, width);
      await picture(page, `guides/reference-${width}-${theme}`);
      const panels = page.locator('.opblock-summary-control');
      expect(await panels.count()).toBeGreaterThan(0);
      // One at a time: the viewer draws every open panel again when another one opens.
      for (const panel of await panels.all()) {
        await panel.click();
        await page.locator('.opblock-body').waitFor();
        expect(await overflow(page)).toBe(0);
        await panel.click();
        await page.locator('.opblock-body').waitFor({ state: 'detached' });
      }
      await panels.first().click();
      await page.locator('.try-out__btn').click();
      await page.locator('.authorize').first().click();
      await page.locator('.modal-ux input').first().waitFor();
      await page.locator('.btn-done').first().click();
      expect(await overflow(page)).toBe(0);
      expect(await page.locator('html.dark-mode').count()).toBe(theme === 'dark' ? 1 : 0);
    }, 600_000);
  });

  it('leads from a guide to the next one and to the reference by keyboard alone', async () => {
    const page = await open('docs/guides/quick-start', 'light', 1280);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Reference');
    await page.getByRole('link', { name: /^Next: / }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/guides\/quotes$/);
  });
});
