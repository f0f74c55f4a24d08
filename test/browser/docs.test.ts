import { readdirSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { readContract } from '../../src/surfaces/rest/partner/contract.ts';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { describeInBrowser, launchChromium } from '../support/staff/chromium.ts';
import { axeFaults, overflow } from '../support/staff/console.ts';
import { picture } from '../support/staff/pictures.ts';

const guides = readdirSync('docs/partners').map((name) => `docs/guides/${name.replace(/\.md$/, '')}`);
const operations = Object.values(readContract().paths ?? {})
  .flatMap((methods) => Object.values(methods as Record<string, { operationId: string }>))
  .map(({ operationId }) => operationId)
  .sort();
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

  async function open(
    path: string,
    theme: (typeof themes)[number],
    width: number,
    bypassCSP = false,
    prepare?: () => void,
  ): Promise<Page> {
    context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme, bypassCSP });
    const page = await context.newPage();
    if (prepare) await page.addInitScript(prepare);
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

    it.each(['docs', ...guides])('%s has one main element', async (path) => {
      const page = await open(path, theme, 1280);
      expect(await page.locator('main').count()).toBe(1);
    });

    it('the reference breaks no policy in any of its panels, and fits its window', async () => {
      const width = theme === 'light' ? 1280 : 390;
      const page = await open('docs', theme, width);
      const panels = page.locator('.opblock-summary-control');
      expect(await panels.count()).toBe(operations.length);
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
    }, 600_000);

    it.each(widths)('the reference lists the operations of the contract, at %i', async (width) => {
      const page = await open('docs', theme, width);
      await picture(page, `guides/reference-${width}-${theme}`);
      expect(await overflow(page)).toBe(0);
      expect(await page.locator('main').count()).toBe(1);
      expect(await page.locator('html.dark-mode').count()).toBe(theme === 'dark' ? 1 : 0);
      const links = page.locator('.menu a');
      const hrefs = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href')));
      expect(hrefs.map((href) => href?.split('/').pop()).sort()).toEqual(operations);
      expect(await links.first().isVisible()).toBe(width === 1280);
      // The first operation is on the first screen of a desk.
      const first = await page.locator('.opblock').first().boundingBox();
      if (width === 1280) expect(first?.y).toBeLessThan(900);
    });

    it('a sample fits its page without scrolling', async () => {
      for (const width of widths) {
        const page = await open('docs/guides/whole-flow', theme, width);
        const cut = await page
          .locator('pre')
          .evaluateAll((all) => all.filter((pre) => pre.scrollWidth > pre.clientWidth));
        expect(cut).toEqual([]);
        expect(await page.locator('main').count()).toBe(1);
        await context?.close();
      }
    });
  });

  describe('the menu, by keyboard', () => {
    it('opens an operation of the reference, on a telephone', async () => {
      const page = await open('docs', 'light', 390);
      await page.locator('.menu summary').focus();
      await page.keyboard.press('Enter');
      const link = page.locator('.menu a[href$="/createOrder"]');
      await link.waitFor();
      await picture(page, 'guides/reference-menu-390-light');
      expect(await overflow(page)).toBe(0);
      await page.keyboard.press('Escape');
      await link.waitFor({ state: 'hidden' });
      await page.keyboard.press('Enter');
      await link.focus();
      await page.keyboard.press('Enter');
      await page.locator('#operations-Orders-createOrder .opblock-body').waitFor();
      await link.waitFor({ state: 'hidden' });
      await page.waitForFunction('document.activeElement.closest("#operations-Orders-createOrder") !== null');
      expect(await link.getAttribute('aria-current')).toBe('true');
      expect(await overflow(page)).toBe(0);
    });

    it('shows an operation again after its panel was closed, on a desk', async () => {
      const page = await open('docs', 'light', 1280);
      const body = page.locator('#operations-Orders-getOrder .opblock-body');
      const link = page.locator('.menu a[href$="/getOrder"]');
      await link.press('Enter');
      await body.waitFor();
      await page.locator('#operations-Orders-getOrder .opblock-summary-control').press('Enter');
      await body.waitFor({ state: 'detached' });
      await link.press('Enter');
      await body.waitFor();
      await picture(page, 'guides/reference-operation-1280-light');
    });

    it('lists the guides on a telephone', async () => {
      const page = await open('docs/guides/quick-start', 'light', 390);
      const link = page.locator('.menu a[href$="/quotes"]');
      expect(await link.isVisible()).toBe(false);
      await page.locator('.menu summary').press('Enter');
      await link.press('Enter');
      await page.waitForURL(/guides\/quotes$/);
    });
  });

  describe('the button of a sample', () => {
    const sample = "document.querySelector('pre > code').textContent";

    it('copies the sample', async () => {
      const page = await open('docs/guides/quick-start', 'light', 1280);
      await context?.grantPermissions(['clipboard-read', 'clipboard-write']);
      const buttons = page.locator('pre > button');
      expect(await buttons.count()).toBe(await page.locator('pre').count());
      await buttons.first().press('Enter');
      await page.getByRole('status').getByText('Copied').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await page.evaluate(sample));
    });

    it('selects the sample where the page has no clipboard', async () => {
      const page = await open('docs/guides/quick-start', 'light', 390, false, () => {
        Object.defineProperty(navigator, 'clipboard', { value: undefined });
      });
      await page.locator('pre > button').first().click();
      await page.getByRole('status').getByText('Selected').waitFor();
      expect(await page.evaluate('getSelection().toString()')).toBe(await page.evaluate(sample));
    });
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
