import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { base58, bech32, bech32m } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { encodeBase58check } from '../../../src/chains/addresses/base58check.ts';
import { encodeCashaddr } from '../../../src/chains/addresses/bitcoin-cash.ts';
import { deriveDepositKey } from '../../../src/chains/addresses/deposit-address.ts';
import { keyForms } from '../../../src/chains/addresses/key-forms.ts';
import { encodeStrkey } from '../../../src/chains/addresses/stellar.ts';
import { orderCreate } from '../../../src/orders/order-statements.ts';
import { query } from '../../support/database/database.ts';
import { startGateway, type TestGateway } from '../../support/gateway/gateway.ts';
import { orderBody } from '../../support/gateway/orders.ts';

/** Our own addresses are refused in every form of their key, wherever an address is taken. */

let gateway: TestGateway;
let key: string;

beforeAll(async () => {
  gateway = await startGateway();
  ({ key } = await gateway.partner());
});
afterAll(() => gateway?.stop());

const create = (changes: Record<string, unknown>) =>
  gateway.call('POST', '/partner/orders', { key, body: orderBody(changes) });

const amounts: Record<string, number> = { BTC: 0.01, LTC: 5, ETH: 1, TRX: 1000, SOL: 1, ADA: 500, XLM: 2000 };

/** A fresh deposit address on a network whose coin has its name. */
async function ours(network: string): Promise<string> {
  const to = network === 'BTC' ? {} : { coin_to: 'BTC', network_to: 'BTC', recipient_address: nobodys };
  const { status, json } = await create({
    coin_from: network,
    network_from: network,
    amount_from: amounts[network],
    ...to,
  });
  expect([network, status]).toEqual([network, 201]);
  return json.deposit_address;
}
const nobodys = bech32.encode('bc', [0, ...bech32.toWords(new Uint8Array(20).fill(9))]);

/** Asks for a payout, then for a refund, to the address. Both are refused as ours, or neither. */
async function isRefused(network: string, address: string): Promise<boolean> {
  const paid = await create(
    network === 'BTC'
      ? {
          coin_from: 'LTC',
          network_from: 'LTC',
          amount_from: 5,
          coin_to: 'BTC',
          network_to: 'BTC',
          recipient_address: address,
        }
      : { coin_to: network, network_to: network, recipient_address: address },
  );
  const back = await create({
    coin_from: network,
    network_from: network,
    amount_from: amounts[network] ?? 1,
    refund_address: address,
    ...(network === 'TRX' ? { coin_to: 'BTC', network_to: 'BTC', recipient_address: nobodys } : {}),
  });
  expect([address, paid.json.code === 'own_address']).toEqual([address, back.json.code === 'own_address']);
  if (paid.json.code !== 'own_address') expect([paid.status, paid.text, back.status]).toEqual([201, paid.text, 201]);
  return paid.json.code === 'own_address';
}

const hashOf = (address: string): Uint8Array => bech32.fromWords(bech32.decode(address as 'a1b').words.slice(1));
const nested = (hash: Uint8Array): Uint8Array => ripemd160(sha256(Uint8Array.from([0, 20, ...hash])));

async function taprootOf(network: string, address: string): Promise<Uint8Array> {
  const [row] = await query<{ xpub: string; index: number }>(
    gateway.databaseUrl,
    `select a.xpub, d.index::int as index from deposit_address d join deposit_account a on a.keychain = d.keychain
      where d.address = $1`,
    [address],
  );
  const key = HDKey.fromExtendedKey(row?.xpub ?? '')
    .deriveChild(0)
    .deriveChild(row?.index ?? 0).publicKey;
  const { hiddenForms } = await deriveDepositKey(network, row?.xpub ?? '', row?.index ?? 0);
  // Independent of the code under test: the output key is not the key itself.
  const output = Buffer.from(hiddenForms?.taproot.slice(5) ?? '', 'hex');
  expect(Buffer.from(key?.subarray(1) ?? []).equals(output)).toBe(false);
  return output;
}

describe('our own deposit address is refused', () => {
  it('in every form of Bitcoin and Litecoin', async () => {
    for (const [network, hrp, keyVersion, scriptVersion] of [
      ['BTC', 'bc', 0x00, 0x05],
      ['LTC', 'ltc', 0x30, 0x32],
    ] as const) {
      const address = await ours(network);
      const hash = hashOf(address);
      const forms = [
        address,
        address.toUpperCase(),
        encodeBase58check([keyVersion], hash),
        encodeBase58check([scriptVersion], nested(hash)),
        bech32m.encode(hrp, [1, ...bech32m.toWords(await taprootOf(network, address))]),
      ];
      for (const form of forms) expect([form, await isRefused(network, form)]).toEqual([form, true]);
    }
  });

  it('in the form of another chain', async () => {
    const hash = hashOf(await ours('LTC'));
    expect(await isRefused('BTC', encodeBase58check([0x00], hash))).toBe(true);
    expect(await isRefused('BTC', encodeBase58check([0x05], nested(hash)))).toBe(true);
    const cash = await create({ coin_to: 'BCH', network_to: 'BCH', recipient_address: encodeCashaddr(hash) });
    expect(cash.json.code).toBe('own_address');
    const evm = await ours('ETH');
    expect(await isRefused('TRX', encodeBase58check([0x41], Buffer.from(evm.slice(2), 'hex')))).toBe(true);
    expect(await isRefused('ETH', evm.toLowerCase())).toBe(true);
  });

  it('of the pools and the shared ones, with another stake part, or of another chain', async () => {
    const payment = bech32.fromWords(bech32.decode((await ours('ADA')) as 'a1b', 1023).words).subarray(1, 29);
    const staked = [0x01, ...payment, ...new Uint8Array(28).fill(7)];
    const text = bech32.encode('addr', bech32.toWords(Uint8Array.from(staked)), 1023);
    expect(await isRefused('ADA', text)).toBe(true);
    const solana = await ours('SOL');
    expect(await isRefused('XLM', encodeStrkey(6 << 3, base58.decode(solana)))).toBe(true);
    const shared = await ours('XLM');
    expect(await isRefused('XLM', shared)).toBe(true);
  });

  it('while addresses of others are not', async () => {
    const hash = new Uint8Array(20).fill(5);
    expect(await isRefused('BTC', encodeBase58check([0x00], hash))).toBe(false);
    expect(await isRefused('LTC', encodeBase58check([0x32], hash))).toBe(false);
  });
});

describe('the hot wallet', () => {
  it('is refused in every form that its address tells', async () => {
    const hash = new Uint8Array(20).fill(3);
    const wallet = bech32.encode('bc', [0, ...bech32.toWords(hash)]);
    const { rememberHotWallet } = await import('../../../src/chains/addresses/hot-wallet.ts');
    const signer = { hotWallet: async () => wallet } as unknown as Parameters<typeof rememberHotWallet>[1];
    const remembered = await rememberHotWallet(gateway.app.orm.em.fork(), signer, 'bitcoin');
    expect(remembered).toEqual({ address: wallet });
    for (const form of [wallet, encodeBase58check([0x00], hash), encodeBase58check([0x05], nested(hash))]) {
      expect([form, await isRefused('BTC', form)]).toEqual([form, true]);
    }
  });
});

describe('looking for our own addresses', () => {
  it('is look-ups in indexes, within the one statement that creates orders', async () => {
    const { text, parameters } = orderCreate;
    const { Client } = await import('pg');
    const client = new Client({ connectionString: gateway.databaseUrl });
    await client.connect();
    try {
      // What a plan for a table of any size looks like, with parameters that it does not know.
      await client.query('set enable_seqscan = off; set plan_cache_mode = force_generic_plan');
      await client.query(`prepare made as ${text}`);
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(
        `explain execute made(${parameters.map(() => 'null').join(', ')})`,
      );
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).not.toContain('Seq Scan on deposit_address');
      // It would read all short ids for each statement.
      expect(plan).not.toContain('hashed SubPlan');
      expect(plan).toContain('Index Scan using exchange_order_short_id_key');
      for (const index of ['address_tag_key', 'nested_form', 'taproot_form']) {
        expect(plan.split(`deposit_address_${index}`).length - 1).toBeGreaterThanOrEqual(2);
      }
    } finally {
      await client.end();
    }
  });

  it('compares few forms', () => {
    for (const address of [nobodys, encodeBase58check([0x00], new Uint8Array(20).fill(5))]) {
      expect(keyForms('BTC', address).split(' ').length).toBeLessThan(12);
    }
  });
});
