import { createRequire } from 'node:module';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { type PagedGateway, scenes, startPagedGateway } from '../support/gateway/paged-orders.ts';
import type { MadeOrder } from '../support/gateway/settled-gateway.ts';
import { describeInBrowser, launchChromium } from '../support/staff/chromium.ts';
import { axeFaults, overflow } from '../support/staff/console.ts';
import { picture } from '../support/staff/pictures.ts';

/** The page of an order in each of its states. */

const themes = ['light', 'dark'] as const;
const widths = [390, 1280] as const;
// Its types name an export by default, which Node does not find in CommonJS.
const jsQR: typeof import('jsqr').default = createRequire(import.meta.url)('jsqr');

describeInBrowser('the page of an order', () => {
  let gateway: PagedGateway;
  let browser: Browser;
  const contexts = new Set<BrowserContext>();
  const complaints: string[] = [];
  const hosts = new Set<string>();

  beforeAll(async () => {
    gateway = await startPagedGateway();
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });
  afterEach(async () => {
    for (const context of contexts) await context.close();
    contexts.clear();
    expect(complaints.splice(0)).toEqual([]);
    expect([...hosts]).toEqual([new URL(gateway.app.restUrl ?? '').host]);
  });

  async function open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 }, ...options });
    contexts.add(context);
    const page = await context.newPage();
    page.on('request', (request) => {
      if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).host);
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    await page.goto(url);
    return page;
  }

  /** What a decoder reads in a picture of the page's QR code. */
  async function scanned(page: Page): Promise<string | undefined> {
    const { data, width, height } = PNG.sync.read(await page.locator('svg').screenshot({ scale: 'device' }));
    return jsQR(new Uint8ClampedArray(data), width, height)?.data;
  }

  const details = async ({ id }: MadeOrder) =>
    (await gateway.call('GET', `/partner/orders/${id}/details`, { key: gateway.key })).json;

  it.each(Object.entries(scenes))(
    '%s: says so in both themes, without fault, on a telephone and a wide window',
    async (name, { headline, says, reach }) => {
      const order = await reach(gateway);
      const url = await gateway.urlOf(order);
      for (const theme of themes) {
        for (const width of widths) {
          const viewport = { width, height: 844 };
          const page = await open(url, { viewport, colorScheme: theme, bypassCSP: true });
          expect(await page.locator('h1').textContent()).toBe(headline);
          const text = await page.locator('main').innerText();
          for (const words of says) expect(text).toContain(words);
          await picture(page, `order-page/${name}-${width}-${theme}`);
          expect(await overflow(page)).toBe(0);
          expect(await axeFaults(page)).toEqual([]);
        }
      }
    },
    600_000,
  );

  it('breaks no policy, and asks no other host, while it counts, copies and reads itself again', async () => {
    const order = await gateway.order();
    const page = await open(await gateway.urlOf(order), {
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.getByText(/^\d+:\d\d left$/).waitFor();
    await page.getByRole('button', { name: 'Copy the address' }).click();
    await page.getByRole('button', { name: 'Copied the address' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(order.depositAddress);
    expect(await page.locator('#said').textContent()).toBe('Copied');
    await gateway.deposit(order);
    await gateway.mine('BTC');
    await gateway.tick();
    await page.getByRole('heading', { name: 'We see your payment' }).waitFor({ timeout: 60_000 });
    expect(await page.title()).toContain('We see your payment');
    expect(await page.locator('svg').count()).toBe(0);
  }, 600_000);

  it.each(themes)('has a QR code that a decoder reads from the screen, in %s', async (theme) => {
    for (const changes of [
      {},
      { coin_from: 'ETH', network_from: 'ETH', amount_from: 1.5 },
      {
        coin_from: 'USDT',
        network_from: 'ERC20',
        amount_from: 500,
        coin_to: 'BTC',
        network_to: 'BTC',
        recipient_address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
      },
      { coin_from: 'XLM', network_from: 'XLM', amount_from: 1000 },
      { coin_from: 'XRP', network_from: 'XRP', amount_from: 500 },
    ]) {
      const order = await gateway.order({ refund_address: undefined, ...changes });
      const page = await open(await gateway.urlOf(order), { colorScheme: theme, deviceScaleFactor: 2 });
      const { payment_uri: uri } = await details(order);
      expect(await scanned(page)).toBe(uri);
      const link = page.getByRole('link', { name: 'Open in a wallet' });
      expect(await link.count()).toBe(order.coinFrom === 'XRP' ? 0 : 1);
      if (order.coinFrom !== 'XRP') expect(await link.getAttribute('href')).toBe(uri);
    }
  }, 600_000);

  it('shows the memo before the code', async () => {
    const order = await gateway.order({ coin_from: 'XRP', network_from: 'XRP', amount_from: 500 });
    const page = await open(await gateway.urlOf(order));
    const tag = page.getByText(order.depositTag ?? '', { exact: true });
    const [memo, code] = [await tag.boundingBox(), await page.locator('svg').boundingBox()];
    expect((memo?.y ?? 0) + (memo?.height ?? 0)).toBeLessThan(code?.y ?? 0);
  });

  it('works without script: all is said, the time is told in UTC, and the page renews itself', async () => {
    const order = await gateway.order();
    const page = await open(await gateway.urlOf(order), { javaScriptEnabled: false });
    expect(await page.locator('h1').textContent()).toBe('Send 0.01 BTC');
    expect(await page.locator('time').textContent()).toMatch(/^\d{1,2} \w{3} \d{4}, \d\d:\d\d UTC$/);
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await page.locator('.left').innerText()).toBe('');
    expect(await page.locator('svg').isVisible()).toBe(true);
    await gateway.deposit(order);
    await gateway.mine('BTC');
    await gateway.tick();
    await page.getByRole('link', { name: 'Look again' }).click();
    await page.getByRole('heading', { name: 'We see your payment' }).waitFor();
    await gateway.mine('BTC', 2);
    await gateway.tick();
    await page.getByRole('heading', { name: 'Your USDT is on its way' }).waitFor({ timeout: 90_000 });
  }, 180_000);

  it('counts by the clock of the server, though that of the device is days wrong', async () => {
    const order = await gateway.order();
    const url = await gateway.urlOf(order);
    for (const days of [-5, 5]) {
      const context = await browser.newContext();
      contexts.add(context);
      const page = await context.newPage();
      await page.clock.install({ time: new Date(gateway.clock.now().getTime() + days * 86_400_000) });
      await page.goto(url);
      const left = page.getByText(/left$/);
      await left.waitFor();
      expect(await left.textContent()).toMatch(/^(30:00|29:\d\d) left$/);
      expect(await page.locator('time').textContent()).toContain(String(gateway.clock.now().getUTCFullYear()));
    }
  });

  it('shows the end when the time is over, without being asked', async () => {
    const order = await gateway.order();
    const page = await open(await gateway.urlOf(order));
    await page.getByText(/left$/).waitFor();
    gateway.clock.advance(31 * 60_000);
    await page.getByRole('heading', { name: 'The time to pay is over' }).waitFor({ timeout: 60_000 });
    expect(await page.getByRole('button').count()).toBe(0);
  }, 600_000);

  it('is read by keyboard alone, with a focus that can be seen', async () => {
    const page = await open(await gateway.urlOf(await gateway.order()));
    await page.getByText(/left$/).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Copy the amount');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Open in a wallet');
  });

  it('stays readable, with no fault, where there is no such order', async () => {
    for (const theme of themes) {
      const page = await open(`${gateway.app.restUrl}/o/AAAAAAAAAAAAAAAAAAAAAA`, {
        colorScheme: theme,
        bypassCSP: true,
      });
      expect(await page.locator('h1').textContent()).toBe('There is no such order');
      await picture(page, `order-page/missing-390-${theme}`);
      expect(await axeFaults(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);
      // The browser itself tells of the status.
      expect(complaints.splice(0)).toEqual([expect.stringContaining('404')]);
    }
  });
});
