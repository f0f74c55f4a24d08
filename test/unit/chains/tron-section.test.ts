import { loadNetworks } from '../../../src/chains/families/network-file.ts';
import type { TronNetwork } from '../../../src/chains/tron/tron-section.ts';
import { chainCoins } from '../../../src/market/currencies/chain-coins.ts';
import { liveLimits } from '../../../src/signer/live-limits.ts';
import { sectionReader } from '../../support/chains/network-section.ts';

const usdt = 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t';
const block0 = `${'0'.repeat(16)}1ebf88508a03865c71d452e25f4d51194196a1d22b6653dc`;
const limit = { per_payment: '20000', per_day: '200000' };

const { read, faultsOf } = sectionReader<TronNetwork>('tron', {
  kind: 'tron',
  net: 'main',
  nodes: [{ url: 'https://node.example/' }],
  start_height: 7,
  limits: { TRX: limit },
});

const withToken = { tokens: { USDT: usdt }, limits: { TRX: limit, USDT: limit } };

describe('the section of Tron', () => {
  it('of the example file can be loaded', () => {
    const { networks } = loadNetworks('networks.example.yaml', chainCoins);
    const tron = networks.find(({ chain }) => chain === 'tron') as TronNetwork;
    expect(tron).toMatchObject({
      kind: 'tron',
      net: 'main',
      genesis: null,
      finality: 'solid',
      startHeight: 77_000_000,
      internalTransfers: 'balances',
      expireAfterSec: 1_800,
      feeLimits: { perTransaction: '45', perDay: '2000' },
      nodes: [
        { url: 'https://tron-1.example/', user: null, password: null, headers: { 'X-Client': 'gateway' } },
        { url: 'http://127.0.0.1:8090/' },
      ],
    });
    expect([...tron.tokens]).toEqual([['USDT', usdt]]);
    expect([...tron.twoNodesAbove]).toEqual([[usdt, 1_000_000_000n]]);
    expect(liveLimits(tron, chainCoins('tron')).assets.get(usdt)?.perPayment).toBe(20_000_000_000n);
  });

  it('gets safe defaults', () => {
    expect(read()).toMatchObject({
      finality: 'solid',
      pollMs: 1_500,
      reorgWindow: 100,
      stalledAfterSec: 120,
      internalTransfers: 'balances',
      expireAfterSec: 1_800,
      feeLimits: { perTransaction: '45', perDay: '2250' },
    });
    expect(read().twoNodesAbove.size).toBe(0);
    expect(read({ net: 'private', genesis: block0 }).stalledAfterSec).toBe(0);
    expect(read({ finality: 25 }).finality).toBe(25);
  });

  const cases: [changes: Record<string, unknown>, told: RegExp][] = [
    [{ kind: 'evm' }, /networks\.tron\.kind does not fit tron; a good value: tron$/],
    [{ net: undefined }, /networks\.tron\.net is missing; a good value: main$/],
    [{ net: 'tronscan' }, /net must be one of main, shasta, nile, private; a good value: main$/],
    [{ net: 'private' }, /genesis is missing; a good value: '?0{16}1ebf88508a03865c7/],
    [{ genesis: '2b6653dc' }, /genesis must be the id of block 0: 64 hexadecimal digits in quotes/],
    [{ genesis: 728126428 }, /genesis must be the id of block 0: 64 hexadecimal digits in quotes/],
    [{ net: 'nile', genesis: block0 }, /genesis is not that of net nile; leave it out$/],
    [{ nodes: undefined }, /nodes needs at least one node; a good value: \[\{ url: http/],
    [{ nodes: [{}] }, /nodes\[0\]\.url is missing; a good value: https/],
    [{ finality: 'finalized' }, /finality must be solid, or a number of confirmations; a good value: solid$/],
    [{ finality: 0 }, /finality must lie between 1 and 10000; a good value: solid$/],
    [{ finality: 1.5 }, /finality must be a whole number; a good value: solid$/],
    [{ finality: 100 }, /reorg_window must be above finality; a good value: 200$/],
    [{ internal_transfers: 'traces' }, /internal_transfers must be one of balances, trace, none/],
    [{ expire_after_sec: 299 }, /expire_after_sec must lie between 300 and 82800; a good value: 1800$/],
    [{ expire_after_sec: 82_801 }, /expire_after_sec must lie between 300 and 82800; a good value: 1800$/],
    [{ replace_after_sec: 180 }, /replace_after_sec is unknown/],
    [
      { ...withToken, tokens: { USDT: '0xdAC17F958D2ee523a2206206994597C13D831ec7' } },
      /tokens\.USDT is no contract.*: TR7NHq/,
    ],
    [
      { ...withToken, tokens: { USDT: usdt.replace(/t$/, 'T') } },
      /tokens\.USDT is no contract: .*; a good value: TR7NHq/,
    ],
    [{ tokens: { USDX: usdt } }, /tokens\.USDX is no token of the catalogue on tron; did you mean USDT\?/],
    [{ tokens: { USDT: usdt } }, /limits\.USDT is missing, and nothing is signed/],
    [{ ...withToken, two_nodes_above: { USDT: 1000 } }, /two_nodes_above\.USDT must be text.*: '1000'$/],
    [{ ...withToken, two_nodes_above: { USDT: '0.0000001' } }, /two_nodes_above\.USDT may have at most 6 digits/],
    [{ ...withToken, two_nodes_above: { TRX: 5 } }, /two_nodes_above\.TRX must be text.*: '1000'$/],
    [
      { two_nodes_above: { USDT: '5' } },
      /two_nodes_above\.USDT is neither the own coin of the chain nor among its tokens/,
    ],
  ];

  it.each(cases)('reports %j with its place and a good value', (changes, told) => {
    expect(faultsOf(changes)).toEqual([expect.stringMatching(told)]);
  });
});
