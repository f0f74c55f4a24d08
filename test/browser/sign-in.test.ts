import type { Browser } from 'playwright-core';
import { startGateway, type TestGateway } from '../support/gateway/gateway.ts';
import { freePort } from '../support/http/local-server.ts';
import { describeInBrowser, launchChromium } from '../support/staff/chromium.ts';
import { startIdentityProvider, type TestIdentityProvider } from '../support/staff/identity-provider.ts';

describeInBrowser('signing in at an identity provider of another site', () => {
  let gateway: TestGateway;
  let idp: TestIdentityProvider;
  let browser: Browser;

  beforeAll(async () => {
    const port = await freePort();
    const own = `http://127.0.0.1:${port}`;
    idp = await startIdentityProvider({ redirectUrl: `${own}/sign-in/oidc/callback`, host: 'localhost' });
    idp.people.set('ada', { email: 'ada@example.com', verified: true });
    gateway = await startGateway({
      outside: { background: false },
      settings: {
        INTERNAL_PORT: String(port),
        INTERNAL_PUBLIC_URL: own,
        OIDC_ISSUER: idp.issuer,
        OIDC_CLIENT_ID: idp.clientId,
        OIDC_CLIENT_SECRET: idp.clientSecret,
      },
    });
    await gateway.staff.create('ada@example.com', 'admin');
    browser = await launchChromium();
  });

  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
    await idp?.stop();
  });

  it('ends where the person wanted to go, with cookies that only this gateway gets', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const own = gateway.app.internalUrl;
    await page.goto(`${own}/playground`);
    await page.getByRole('link', { name: /^Sign in with localhost/ }).click();
    await page.locator('input[name=login]').fill('ada');
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
    // The provider asks whether the gateway may know the address.
    await page.locator('button[type=submit]').click();
    await page.waitForURL(`${own}/playground`);
    expect(await page.locator('#bar').textContent()).toContain('signed in as ada@example.com (admin)');
    const cookies = (await context.cookies(own)).filter(({ name }) => name.startsWith('__Host-'));
    expect(cookies).toEqual([
      expect.objectContaining({ name: '__Host-staff', httpOnly: true, secure: true, sameSite: 'Strict', path: '/' }),
    ]);
    expect(await page.evaluate('document.cookie')).toBe('');
    await context.close();
  });

  it('shows a refusal on our own page', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${gateway.app.internalUrl}/sign-in`);
    await page.getByRole('link', { name: /^Sign in with localhost/ }).click();
    await page.getByText('Cancel').click();
    expect(await page.getByRole('alert').textContent()).toContain('did not let you in (access_denied)');
    await context.close();
  });
});
