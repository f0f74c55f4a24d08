import { createHash } from 'node:crypto';
import { base58xrp } from '@scure/base';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { readTags } from '../../../src/chains/addresses/deposit-addresses.ts';
import { rippleAccount } from '../../../src/chains/addresses/ripple.ts';
import { encodeStellarAccount, encodeStrkey, stellarKey } from '../../../src/chains/addresses/stellar.ts';
import { orderBody } from '../../support/gateway/orders.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

/** Addresses that orders share, and tags, in the requests of partners. */

let gateway: SettledGateway;
beforeAll(async () => {
  gateway = await startSettledGateway();
});
afterAll(() => gateway?.stop());

const toBtc = { coin_to: 'BTC', network_to: 'BTC', recipient_address: addressExample('BTC') };
const amounts: Readonly<Record<string, number>> = { XRP: 500, XLM: 2_000 };
const from = (network: string) => ({
  ...toBtc,
  ...{ coin_from: network, network_from: network, amount_from: amounts[network] },
});
const to = (network: string) => ({ coin_to: network, network_to: network });

const post = (path: string, body: Record<string, unknown>) => gateway.call('POST', path, { key: gateway.key, body });

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** https://github.com/XRPLF/XRPL-Standards/tree/master/XLS-0005-tagged-addresses, apart from our own code. */
function xAddress(classic: string, tag: number | null, prefix: readonly number[] = [0x05, 0x44]): string {
  const end = Buffer.alloc(9);
  if (tag !== null) {
    end.writeUInt8(1);
    end.writeUInt32LE(tag, 1);
  }
  const payload = Buffer.from([...prefix, ...rippleAccount(classic), ...end]);
  return base58xrp.encode(Buffer.concat([payload, sha256(sha256(payload)).subarray(0, 4)]));
}

function muxed(account: string, id: bigint): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(id);
  return encodeStrkey(12 << 3, Uint8Array.from([...stellarKey(account), ...bytes]));
}

type Sent = readonly [address: string, tag?: string];

/** The codes of all faults by which the address check, a payout and a refund refuse an address. */
async function refusals(network: string, [address, tag]: Sent): Promise<string[][]> {
  const named = (field: string) => ({ [field]: address, ...(tag === undefined ? {} : { [`${field}_tag`]: tag }) });
  const check = { coin: network, network, address, ...(tag === undefined ? {} : { tag }) };
  const replies = [
    await post('/partner/addresses/validate', check),
    await post('/partner/orders', orderBody({ ...to(network), ...named('recipient_address') })),
    await post('/partner/orders', orderBody({ ...from(network), ...named('refund_address') })),
  ];
  return replies.map(({ json }) => {
    const codes: string[] = (json.errors ?? []).map(({ code }: { code: string }) => code);
    return codes.length > 0 ? codes : [json.code];
  });
}

describe('an address of ours is refused', () => {
  async function ours(network: string): Promise<{ address: string; all: readonly (string | undefined)[] }> {
    const { depositAddress, depositTag } = await gateway.order(from(network));
    const funding = (await readTags(gateway.app.orm.em.fork())).fundingTag();
    return { address: depositAddress, all: [undefined, '0', '7', depositTag ?? '', funding] };
  }

  it('on the XRP Ledger in each form, with any tag or none', async () => {
    const { address, all } = await ours('XRP');
    const forms: Sent[] = all.flatMap((tag): Sent[] => [
      tag === undefined ? [address] : [address, tag],
      tag === undefined ? [xAddress(address, null)] : [xAddress(address, null), tag],
      [xAddress(address, tag === undefined ? null : Number(tag))],
    ]);
    for (const sent of forms) {
      expect([sent, await refusals('XRP', sent)]).toEqual([sent, Array(3).fill(['own_address'])]);
    }
    // It is named together with another fault too.
    for (const sent of [[address, 'x'] as const, [xAddress(address, 7), '8'] as const]) {
      const found = await refusals('XRP', sent);
      expect([sent, found.map((codes) => codes.includes('own_address'))]).toEqual([sent, [true, true, true]]);
    }
    const test = xAddress(address, 7, [0x04, 0x93]);
    expect(await refusals('XRP', [test])).toEqual(Array(3).fill(['wrong_network_address']));
    for (const form of [address.toLowerCase(), ` ${address}`, `${address}\n`, `${address}?dt=7`, `${address}:7`]) {
      expect([form, await refusals('XRP', [form])]).toEqual([form, Array(3).fill(['invalid_address'])]);
    }
  });

  it('on Stellar in each form, with any memo or none, and so is each channel', async () => {
    const { address, all } = await ours('XLM');
    const channels = [7, 9].map((byte) => encodeStellarAccount(Buffer.alloc(32, byte)));
    await gateway.query(`insert into setting (name, value) values ('hot_wallet_channels:stellar', $1)`, [
      channels.join(' '),
    ]);
    for (const account of [address, ...channels]) {
      const forms: Sent[] = all.flatMap((tag): Sent[] => [
        tag === undefined ? [account] : [account, tag],
        [muxed(account, BigInt(tag ?? 2n ** 64n - 1n))],
      ]);
      for (const sent of [...forms, [account, 'text'] as const]) {
        expect([sent, await refusals('XLM', sent)]).toEqual([sent, Array(3).fill(['own_address'])]);
      }
    }
    for (const form of [address.toLowerCase(), `${address} `]) {
      expect([form, await refusals('XLM', [form])]).toEqual([form, Array(3).fill(['invalid_address'])]);
    }
  });
});

describe('a tag is stored unchanged, or refused', () => {
  const xrp = addressExample('XRP');
  const xlm = addressExample('XLM');
  const kept: readonly (readonly [network: string, address: string, tag: string | null, stored: string | null])[] = [
    ['XRP', xrp, null, null],
    ['XRP', xrp, '0', '0'],
    ['XRP', xrp, '4294967295', '4294967295'],
    ['XRP', xAddress(xrp, null), null, null],
    ['XRP', xAddress(xrp, null), '0', '0'],
    ['XRP', xAddress(xrp, 0), null, '0'],
    ['XRP', xAddress(xrp, 4_294_967_295), null, '4294967295'],
    ['XRP', xAddress(xrp, 7), '7', '7'],
    ['XLM', xlm, '0', '0'],
    ['XLM', xlm, '18446744073709551615', '18446744073709551615'],
    ...['+1', '-1', '1.0', '1e3', '0x10', '١', '１', '=1+1', '@x', '<b>'].map(
      (text) => ['XLM', xlm, text, text] as const,
    ),
    ['XLM', muxed(xlm, 0n), null, '0'],
    ['XLM', muxed(xlm, 2n ** 64n - 1n), null, '18446744073709551615'],
    ['XLM', muxed(xlm, 7n), '7', '7'],
  ];

  it.each(kept)('on %s for %s with %j', async (network, address, tag, stored) => {
    const given = tag === null ? {} : { tag };
    const checked = await post('/partner/addresses/validate', { coin: network, network, address, ...given });
    expect(checked.json).toMatchObject({ valid: true, canonical: addressExample(network), tag: stored });
    const order = await post(
      '/partner/orders',
      orderBody({
        ...to(network),
        recipient_address: address,
        ...(tag === null ? {} : { recipient_address_tag: tag }),
      }),
    );
    expect([order.status, order.text]).toEqual([201, order.text]);
    const rows = await gateway.query(
      'select recipient_address as address, recipient_address_tag as tag from exchange_order where id = $1',
      [order.json.id],
    );
    expect(rows).toEqual([{ address: addressExample(network), tag: stored }]);
  });

  const odd = ['00', '07', ' 1', '1 ', '18446744073709551616', '\u0000', 'a\nb', '\u202e1'];
  const texts = ['+1', '-1', '1.0', '1e3', '0x10', '١', '１', '4294967296', '=1+1'];
  const refused: readonly (readonly [network: string, address: string, tag: string, code: string])[] = [
    ...[...odd, ...texts].map((tag) => ['XRP', xrp, tag, 'invalid_tag'] as const),
    ...odd.map((tag) => ['XLM', xlm, tag, 'invalid_tag'] as const),
    ['XRP', xAddress(xrp, 7), '8', 'conflicting_tag'],
    ['XRP', xAddress(xrp, 7), '07', 'invalid_tag'],
    ['XLM', muxed(xlm, 7n), '8', 'conflicting_tag'],
    ['XLM', muxed(xlm, 7n), 'seven', 'conflicting_tag'],
    ['XLM', muxed(xlm, 7n), '07', 'invalid_tag'],
  ];
  it.each(refused)('on %s for %s with %j: %s', async (network, address, tag, code) => {
    expect(await refusals(network, [address, tag])).toEqual(Array(3).fill([code]));
  });
});
