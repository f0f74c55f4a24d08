import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readContract } from '../../src/surfaces/rest/partner/contract.ts';
import { postmanCollection } from '../../src/surfaces/rest/partner/postman.ts';
import { newSecret, secretText, signatureHeaders } from '../../src/webhooks/signature.ts';
import { WebhookWorker } from '../../src/webhooks/webhook-worker.ts';
import { openMonth } from '../support/gateway/commission-months.ts';
import { type SettledGateway, startSettledGateway } from '../support/gateway/settled-gateway.ts';
import { freePort } from '../support/http/local-server.ts';
import { commandsOf, examplesOf, programsOf } from '../support/http/shell-examples.ts';
import { Receivers } from '../support/webhooks/receiver.ts';

const folder = 'docs/partners';
const names = readdirSync(folder).map((name) => name.replace(/\.md$/, ''));

let gateway: SettledGateway;
let receivers: Receivers;
let partnerId: string;
let webhooks: WebhookWorker | undefined;
const failures: unknown[] = [];
beforeAll(async () => {
  receivers = await Receivers.start();
  gateway = await startSettledGateway({ settings: receivers.settings, outside: { receivers: receivers.outside } });
  const [row] = await gateway.query<{ partner_id: string }>('select partner_id from api_key where key_id = $1', [
    gateway.key.split('.')[0],
  ]);
  partnerId = row?.partner_id ?? '';
  await gateway.partners.change(partnerId, { orderPage: true, displayName: 'Guide Wallet' });
  const { dispatcher, sender } = gateway.app.webhooks ?? {};
  if (!dispatcher || !sender) throw new Error('this gateway sends no webhooks');
  webhooks = new WebhookWorker({ dispatcher, sender, onFailure: (error) => failures.push(error) });
  webhooks.start();
});
afterAll(async () => {
  await webhooks?.stop();
  await gateway?.stop();
  await receivers?.stop();
});

const at = (path: string, init?: RequestInit): Promise<Response> => fetch(`${gateway.app.restUrl}/api/v1${path}`, init);

/** What the command line of the sandbox does, on the gateway of the test. */
async function sandbox([group, verb, ...options]: readonly string[]): Promise<void> {
  if (group !== 'sandbox') throw new Error(`the guides use no command of ${group}`);
  const option = (name: string): string | undefined => options[options.indexOf(`--${name}`) + 1];
  if (verb === 'deposit') {
    const { json } = await gateway.call('GET', `/partner/orders/${option('order')}`, { key: gateway.key });
    const amount = (options.includes('--amount') && option('amount')) || String(json.amount_from_expected);
    const order = {
      id: json.id,
      depositAddress: json.deposit_address,
      depositTag: json.deposit_address_tag,
      amountFrom: String(json.amount_from_expected),
      amountTo: '',
      coinFrom: json.coin_from,
      networkFrom: json.network_from,
      networkTo: json.network_to,
    };
    await gateway.deposit(order, { amount });
    await gateway.tick();
  } else if (verb === 'mine') {
    await gateway.mine('BTC', Number(option('blocks')));
    await gateway.tick();
  } else throw new Error(`sandbox ${verb} is unknown to this test`);
}

describe('the guides for partners', () => {
  it.each(names)('%s: every example is sent, and answered as the page says', async (name) => {
    const variables = new Map([
      ['URL', `${gateway.app.restUrl}/api/v1`],
      ['KEY', gateway.key],
      ['HOOK', receivers.url('guide')],
      ['MONTH', await openMonth(gateway.query, partnerId, gateway.clock.now())],
      ['FROM', new Date(gateway.clock.now().getTime() - 3_600_000).toISOString()],
    ]);
    for (const { text, sets, status } of examplesOf(readFileSync(`${folder}/${name}.md`, 'utf8'))) {
      for (const command of commandsOf(text, variables)) {
        if (command.kind === 'cli') {
          await sandbox(command.words);
          continue;
        }
        const { method, url, headers, body } = command;
        const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
        const answer = await response.text();
        const expected = status ?? (method === 'POST' ? [200, 201] : [200]);
        expect({ text, answer, status: [expected].flat().includes(response.status) }).toMatchObject({ status: true });
        for (const { variable, member } of sets) {
          const value = member.split('.').reduce((at, name) => at?.[name], JSON.parse(answer));
          expect([text, value]).not.toEqual([text, undefined]);
          variables.set(variable, String(value));
        }
      }
    }
    expect(failures).toEqual([]);
    const got = receivers.of('guide').map(({ event }) => event.type);
    if (name === 'webhooks') expect(got).toContain('endpoint.test');
  });

  it('are served as pages and as Markdown, without their comments, and link only to what there is', async () => {
    for (const name of names) {
      const page = await at(`/docs/guides/${name}`);
      const html = await page.text();
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      expect(html).not.toMatch(/<!--|https?:\/\/(?!127)/);
      for (const [, href = ''] of html.matchAll(/href="([^"#]+)(?:#[^"]*)?"/g)) {
        if (href === 'data:,') continue;
        const target = new URL(href, `${gateway.app.restUrl}/api/v1/docs/guides/${name}`);
        expect([href, (await fetch(target)).status]).toEqual([href, 200]);
      }
      const source = await at(`/docs/guides/${name}.md`);
      expect(source.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
      expect(await source.text()).not.toContain('<!--');
    }
  });

  it('are listed for programs in llms.txt', async () => {
    const text = await (await at('/llms.txt')).text();
    for (const name of names) expect(text).toContain(`/api/v1/docs/guides/${name}.md): `);
    for (const [, path] of text.matchAll(/\]\(([^)]+)\)/g)) {
      expect((await fetch(`${gateway.app.restUrl}${path}`)).status).toBe(200);
    }
  });
});

describe('the receivers of the guide to webhooks', () => {
  const programs = programsOf(readFileSync(`${folder}/webhooks.md`, 'utf8'));
  const [oldSecret, secret] = [newSecret(), newSecret()];
  const event = { type: 'order.completed', timestamp: new Date().toISOString(), data: { order_id: 'o-1', seq: 5 } };
  const body = JSON.stringify(event);
  let home: string;
  let running: ChildProcess | undefined;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'gateway-receiver-'));
  });
  afterEach(async () => {
    if (running?.kill()) await once(running, 'close');
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  it('are two', () => expect(programs).toHaveLength(2));

  it.each(programs.map((_, i) => i))('number %i takes what is genuine, and nothing else', async (index) => {
    const file = join(home, `receiver-${index}.mjs`);
    const client = pathToFileURL(resolve('client/src/main.ts')).href;
    await writeFile(file, (programs[index] ?? '').replace('exchange-partner-client', client));
    const port = await freePort();
    running = spawn(process.execPath, ['--import', resolve('node_modules/tsx/dist/loader.mjs'), file], {
      env: {
        ...process.env,
        TSX_TSCONFIG_PATH: resolve('tsconfig.json'),
        PORT: String(port),
        WEBHOOK_SECRET: `${secretText(oldSecret)} ${secretText(secret)}`,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    running.stdout?.on('data', (data: Buffer) => {
      printed += data;
    });
    const send = async (text: string, headers: Record<string, string>): Promise<number> => {
      for (const deadline = Date.now() + 30_000; ; await new Promise((resume) => setTimeout(resume, 50))) {
        try {
          return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: text })).status;
        } catch (error) {
          if (Date.now() > deadline) throw error;
        }
      }
    };
    const signed = (keys: Buffer[], at = new Date()) => signatureHeaders({ id: 'evt_1', at, body }, keys);
    expect(await send(body, signed([secret]))).toBe(204);
    expect(await send(body, signed([newSecret(), oldSecret]))).toBe(204);
    expect(await send(body, signed([newSecret()]))).toBe(400);
    expect(await send(`${body} `, signed([secret]))).toBe(400);
    expect(await send(body, { ...signed([secret]), 'webhook-id': 'evt_2' })).toBe(400);
    expect(await send(body, signed([secret], new Date(Date.now() - 400_000)))).toBe(400);
    expect(await send(body, signed([secret], new Date(Date.now() + 400_000)))).toBe(400);
    expect(await send(body, {})).toBe(400);
    expect(printed.trim().split('\n')).toEqual(Array(2).fill('evt_1 order.completed o-1 5'));
  });
});

interface PostmanRequest {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly auth: { readonly type: string };
    readonly header: readonly { key: string; value: string; disabled?: boolean }[];
    readonly url: {
      readonly path: readonly string[];
      readonly query?: readonly { key: string; value: string; disabled?: boolean }[];
      readonly variable: readonly { key: string; value: string }[];
    };
    readonly body?: { readonly raw: string };
  };
}

describe('the Postman collection', () => {
  it('has a request for every operation, which the gateway understands', async () => {
    const collection = (await (await at('/docs/postman.json')).json()) as { item: { item: PostmanRequest[] }[] };
    expect(collection).toEqual(JSON.parse(JSON.stringify(postmanCollection(readContract()))));
    const requests = collection.item.flatMap(({ item }) => item);
    const operations = Object.values(readContract().paths ?? {}).flatMap((path) => Object.keys(path ?? {}));
    expect(requests.length).toBeGreaterThanOrEqual(operations.length);
    for (const { name, request } of requests) {
      const variables = new Map(request.url.variable.map(({ key, value }) => [key, value]));
      const path = request.url.path
        .map((part) => (part.startsWith(':') ? variables.get(part.slice(1)) : part))
        .join('/');
      const query = new URLSearchParams(
        (request.url.query ?? [])
          .filter(({ disabled }) => !disabled)
          .map(({ key, value }): [string, string] => [key, value]),
      );
      const headers = Object.fromEntries(
        request.header.filter(({ disabled }) => !disabled).map(({ key, value }) => [key, value]),
      );
      const response = await at(`/${path}?${query}`, {
        method: request.method,
        headers: { ...headers, ...(request.auth.type === 'bearer' ? { Authorization: `Bearer ${gateway.key}` } : {}) },
        ...(request.body ? { body: request.body.raw } : {}),
      });
      const { code = '' } = response.headers.get('content-type')?.includes('json')
        ? ((await response.json()) as { code?: string })
        : {};
      // The orders and quotes of the examples are those of another gateway.
      const understood = response.status < 400 || response.status === 404 || response.status === 422;
      expect({ name, status: response.status, code, understood }).toMatchObject({ understood: true });
    }
  });
});
