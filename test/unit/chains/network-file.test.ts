import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { evmChains } from '../../../src/chains/evm/evm-chain-ids.ts';
import type { EvmNetwork } from '../../../src/chains/evm/evm-section.ts';
import { LiveNetworks } from '../../../src/chains/families/live-networks.ts';
import { loadNetworks, NetworkFileError, readNetworks } from '../../../src/chains/families/network-file.ts';
import { flag } from '../../../src/chains/networks/file-section.ts';
import { allNetworks } from '../../../src/chains/networks/networks.ts';
import type { UtxoNetwork } from '../../../src/chains/utxo/utxo-section.ts';
import { chainCoins } from '../../../src/market/currencies/chain-coins.ts';
import { liveLimits } from '../../../src/signer/live-limits.ts';

const folder = mkdtempSync(join(tmpdir(), 'networks-'));
afterAll(() => rmSync(folder, { recursive: true }));

const secret = 'hunter2-secret';

function file(text: string, name = 'secret'): string {
  const path = join(folder, name);
  writeFileSync(path, `${text}\n`);
  return path;
}

/** A file that only says what it must. */
function least(): Record<string, unknown> {
  return {
    networks: {
      ethereum: {
        kind: 'evm',
        chain_id: 11155111,
        nodes: [{ url: 'https://node.example/' }],
        start_height: 7,
        max_fee_per_gas_gwei: '100',
        limits: { ETH: { per_payment: '1', per_day: '10' } },
      },
      litecoin: {
        kind: 'utxo',
        net: 'regtest',
        nodes: [{ url: 'http://127.0.0.1:19443', user: 'gateway', password: secret }],
        start_height: 0,
        fee_ceiling: '0.01',
        limits: { LTC: { per_payment: '100', per_day: '1000' } },
      },
    },
  };
}

/**
 * The least file with a member changed, or taken out where the value is undefined. Its place is
 * 'a.b.0.c'.
 */
function changed(place: string, value: unknown): string {
  const root = least();
  const names = place.split('.');
  const last = names.pop() ?? '';
  let at: Record<string, unknown> = root;
  for (const name of names) {
    at[name] ??= {};
    at = at[name] as Record<string, unknown>;
  }
  if (value === undefined) delete at[last];
  else at[last] = value;
  return stringify(root);
}

function faultsOf(text: string): readonly string[] {
  try {
    readNetworks(text, 'networks.yaml', chainCoins);
  } catch (error) {
    if (error instanceof NetworkFileError) return error.problems;
    throw error;
  }
  return [];
}

describe('networks.example.yaml', () => {
  const networks = loadNetworks('networks.example.yaml', chainCoins);
  const byChain = new Map(networks.networks.map((network) => [network.chain, network]));
  const ethereum = byChain.get('ethereum') as EvmNetwork;
  const litecoin = byChain.get('litecoin') as UtxoNetwork;

  it('can be loaded, and has known members only', () => {
    expect([...byChain.keys()]).toEqual([
      'ethereum',
      'litecoin',
      'tron',
      'ripple',
      'stellar',
      'solana',
      'ton',
      'monero',
    ]);
    expect(networks.others).toBe('off');
    expect(ethereum).toMatchObject({
      kind: 'evm',
      chainId: 1,
      finality: 'finalized',
      startHeight: 21_500_000,
      maxFeePerGas: 200_000_000_000n,
      internalTransfers: 'balances',
      nodes: [
        { url: 'https://ethereum-1.example/', user: null, password: null, headers: { 'X-Client': 'gateway' } },
        { url: 'http://127.0.0.1:8545/' },
      ],
    });
    expect(ethereum.tokens.get('USDT')).toBe('0xdAC17F958D2ee523a2206206994597C13D831ec7');
    expect(ethereum.levels.get('ETH')).toEqual({ low: '2', high: '40' });
    expect(ethereum.sweepFrom.get('USDC')).toBe('50');
    expect(litecoin).toMatchObject({ net: 'main', feeFloor: 1000n, feeCeiling: 200_000n, replaceable: false });
  });

  it('has a test network that can be loaded', () => {
    const text = readFileSync('networks.example.yaml', 'utf8');
    const commented = text.slice(text.indexOf('# networks:')).replaceAll(/^# ?/gm, '');
    const { networks: found, others } = readNetworks(commented, 'x', chainCoins);
    expect([found[0]?.chain, others]).toEqual(['ethereum', 'sandbox']);
  });

  it('gives the signer its limits in smallest units, and tokens by their contracts', () => {
    const limits = liveLimits(ethereum, chainCoins('ethereum'));
    expect(limits).toMatchObject({ maxFee: 50_000_000_000_000_000n, feesPerDay: 2_000_000_000_000_000_000n });
    expect([...limits.assets]).toEqual([
      [
        '',
        {
          perPayment: 5_000_000_000_000_000_000n,
          perDay: 60_000_000_000_000_000_000n,
          commissionPerDay: 6_000_000_000_000_000_000n,
        },
      ],
      [
        '0xdAC17F958D2ee523a2206206994597C13D831ec7',
        { perPayment: 20_000_000_000n, perDay: 200_000_000_000n, commissionPerDay: 20_000_000_000n },
      ],
      [
        '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
        { perPayment: 20_000_000_000n, perDay: 200_000_000_000n, commissionPerDay: 20_000_000_000n },
      ],
    ]);
    expect(liveLimits(litecoin, chainCoins('litecoin')).assets.get('')?.perPayment).toBe(10_000_000_000n);
  });

  it('may limit commission otherwise', () => {
    const { networks: found } = readNetworks(
      changed('networks.litecoin.limits.LTC.commission_per_day', '30'),
      'x',
      chainCoins,
    );
    expect(found[1]?.limits.get('LTC')).toEqual({ perPayment: '100', perDay: '1000', commissionPerDay: '30' });
  });

  it('signs no commission of a coin with a part of 0', () => {
    const { networks: found } = readNetworks(
      changed('networks.litecoin.limits.LTC.commission_per_day', '0'),
      'x',
      chainCoins,
    );
    const [, litecoin] = found;
    if (!litecoin) throw new Error('the file has no second network');
    expect(liveLimits(litecoin, chainCoins('litecoin')).assets.get('')?.commissionPerDay).toBe(0n);
  });
});

describe('a file with the required members only', () => {
  it('gets safe defaults', () => {
    const { networks, others } = readNetworks(stringify(least()), 'x', chainCoins);
    expect(others).toBe('off');
    expect(networks[0]).toMatchObject({
      finality: 'finalized',
      pollMs: 3000,
      reorgWindow: 128,
      internalTransfers: 'balances',
      stalledAfterSec: 300,
      replaceAfterSec: 180,
      feeLimits: { perTransaction: '0.1', perDay: '5' },
    });
    expect(networks[1]).toMatchObject({
      finality: 6,
      reorgWindow: 100,
      feeFloor: 1000n,
      feeTarget: 2,
      replaceable: false,
      mempool: true,
      feeLimits: { perTransaction: '1', perDay: '50' },
    });
  });

  it('expects steady blocks of public networks, and none of a private chain', () => {
    const stalledAfterSec = (place: string, value: unknown, chain: string): number | undefined =>
      readNetworks(changed(place, value), 'x', chainCoins).networks.find((each) => each.chain === chain)
        ?.stalledAfterSec;
    expect(stalledAfterSec('networks.ethereum.chain_id', 11155111, 'ethereum')).toBe(300);
    expect(stalledAfterSec('networks.ethereum.chain_id', 31337, 'ethereum')).toBe(0);
    expect(stalledAfterSec('networks.ethereum.stalled_after_sec', 60, 'ethereum')).toBe(60);
    expect(stalledAfterSec('networks.litecoin.net', 'test', 'litecoin')).toBe(5_400);
    expect(stalledAfterSec('networks.litecoin.net', 'regtest', 'litecoin')).toBe(0);
  });

  it('may keep every secret in a separate file', () => {
    const nodes = [
      {
        url_file: file('https://node.example/v3/key', 'url'),
        header_files: { 'X-Api-Key': file('k', 'key') },
        user: 'u',
        password_file: file('p', 'password'),
      },
    ];
    const { networks } = readNetworks(changed('networks.ethereum.nodes', nodes), 'x', chainCoins);
    expect(networks[0]?.nodes).toEqual([
      { url: 'https://node.example/v3/key', user: 'u', password: 'p', headers: { 'X-Api-Key': 'k' } },
    ]);
  });
});

describe('a fault of the file', () => {
  const cases: [place: string, value: unknown, told: RegExp][] = [
    ['networks.ethereum.kind', undefined, /^networks\.yaml: networks\.ethereum\.kind is missing; a good value: evm$/],
    ['networks.ethereum.kind', 'utxo', /networks\.ethereum\.kind does not fit ethereum; a good value: evm/],
    ['networks.ethereum.kind', 'emv', /kind must be one of evm, utxo/],
    ['networks.ethereum.chain_id', undefined, /chain_id is missing; a good value: 1$/],
    ['networks.ethereum.chain_id', 137, /chain_id must be one that is known for ethereum: 1, 11155111/],
    ['networks.ethereum.chain_id', '1', /chain_id must be one/],
    ['networks.ethereum.nodes', undefined, /networks\.ethereum\.nodes needs at least one node/],
    ['networks.ethereum.nodes', 'https://x.example', /nodes must be a list/],
    ['networks.ethereum.nodes.0.url', undefined, /networks\.ethereum\.nodes\[0\]\.url is missing; a good value: https/],
    ['networks.ethereum.nodes.0.url', `ftp://${secret}`, /nodes\[0\]\.url must begin with https/],
    ['networks.ethereum.nodes.0.url', `https://u:${secret}@x.example/`, /url must hold no credentials/],
    [
      'networks.ethereum.nodes.0.url',
      `http://x.example/${secret}`,
      /must begin with https:\/\/ outside your own network/,
    ],
    ['networks.ethereum.nodes.0.url_file', '/nowhere', /url_file names a file that cannot be read/],
    ['networks.ethereum.nodes.0.api_key', secret, /nodes\[0\]\.api_key is unknown/],
    ['networks.ethereum.nodes.0.headers', { 'X Key': secret }, /headers\.X Key is no name of a header/],
    ['networks.ethereum.nodes.0.headers', { 'X-Key': `${secret}\n` }, /headers\.X-Key must be one line/],
    ['networks.ethereum.nodes.0.header_files', { 'X-Key': '/nowhere' }, /header_files\.X-Key names a file/],
    ['networks.litecoin.nodes.0.user', undefined, /nodes\[0\]\.user is missing, as there is a password/],
    ['networks.litecoin.nodes.0.password', 1234, /password must be text; write it in quotes/],
    ['networks.litecoin.nodes.0.password_file', '/nowhere', /password_file names a file that cannot be read/],
    ['networks.ethereum.start_height', undefined, /start_height is missing/],
    ['networks.ethereum.start_height', -1, /start_height must lie between 0 and/],
    ['networks.ethereum.start_height', 1e30, /start_height must lie between 0 and/],
    ['networks.ethereum.start_height', 1.5, /start_height must be a whole number/],
    ['networks.ethereum.finality', 'latest', /finality must be finalized, safe, or a number/],
    ['networks.ethereum.finality', 0, /finality must lie between 1 and 10000; a good value: finalized/],
    ['networks.ethereum.finality', 128, /reorg_window must be above finality/],
    ['networks.litecoin.finality', 'finalized', /finality must be a whole number; a good value: 6/],
    ['networks.ethereum.internal_transfers', 'traces', /internal_transfers must be one of balances, trace, none/],
    ['networks.ethereum.max_fee_per_gas_gwei', undefined, /max_fee_per_gas_gwei is missing; a good value: '200'/],
    ['networks.ethereum.max_fee_per_gas_gwei', 0.1, /max_fee_per_gas_gwei must be text.*write it in quotes/],
    ['networks.ethereum.max_fee_per_gas_gwei', '-1', /must be a plain decimal number/],
    ['networks.ethereum.max_fee_per_gas_gwei', '0.0', /must be above 0/],
    ['networks.ethereum.max_fee_per_gas_gwei', '0.0000000001', /at most 9 digits/],
    [
      'networks.ethereum.tokens',
      { USDX: '0xdAC17F958D2ee523a2206206994597C13D831ec7' },
      /USDX is no token.*did you mean USDT\?/,
    ],
    ['networks.ethereum.tokens', { USDT: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t' }, /tokens\.USDT is no contract/],
    ['networks.ethereum.tokens', { USDT: '0xdac17F958D2ee523a2206206994597C13D831ec7' }, /tokens\.USDT is no contract/],
    [
      'networks.ethereum.tokens',
      { USDT: '0xdAC17F958D2ee523a2206206994597C13D831ec7' },
      /limits\.USDT is missing, and nothing is signed/,
    ],
    ['networks.ethereum.limits', undefined, /limits\.ETH is missing/],
    ['networks.ethereum.limits.ETH', { per_payment: '2', per_day: '1' }, /ETH\.per_day must not be below per_payment/],
    [
      'networks.ethereum.limits.ETH.commission_per_day',
      '10.1',
      /ETH\.commission_per_day must not be above per_day; a good value: '1'/,
    ],
    ['networks.ethereum.limits.ETH', { per_payment: 2, per_day: '10' }, /ETH\.per_payment must be text/],
    ['networks.ethereum.limits.USDC', { per_payment: '2', per_day: '10' }, /limits\.USDC is neither the own coin/],
    ['networks.ethereum.wallet_levels', { ETH: { low: '2', high: '2' } }, /ETH\.high must be above low/],
    ['networks.ethereum.wallet_levels', { ETH: { hihg: '2', low: '1' } }, /ETH\.hihg is unknown; did you mean high\?/],
    ['networks.ethereum.sweep_from', { ETH: 0.05 }, /sweep_from\.ETH must be text, so that no digit is lost/],
    ['networks.litecoin.sweep_from', { LTC: '0.123456789' }, /sweep_from\.LTC may have at most 8 digits/],
    ['networks.ethereum.fees_per_day', '0.01', /fees_per_day must not be below max_fee; a good value: '5'/],
    ['networks.litecoin.net', undefined, /litecoin\.net is missing; a good value: main/],
    ['networks.litecoin.net', 'signet', /net must be one of main, test, regtest/],
    ['networks.litecoin.fee_ceiling', undefined, /fee_ceiling is missing/],
    ['networks.litecoin.fee_ceiling', '0.000001', /fee_ceiling must not be below fee_floor/],
    ['networks.litecoin.mempool', 'yes', /mempool must be true or false/],
    ['networks.litecoin.chain_id', 1, /litecoin\.chain_id is unknown/],
    ['networks.ethereum.finalty', 5, /finalty is unknown; did you mean finality\?/],
    [
      'networks.cardano',
      {},
      /networks\.cardano cannot be live: there is no adapter for cardano; leave it out, and it is off/,
    ],
    ['networks.cosmos', {}, /no adapter for cosmos/],
    ['networks.LTC', {}, /networks\.LTC is unknown.*did you mean litecoin\?/],
    ['networks.etherium', {}, /networks\.etherium is unknown; did you mean ethereum\?/],
    ['networks.ethereum', 'main', /networks\.ethereum must be a section/],
    ['networks', {}, /networks names no network/],
    ['others', 'on', /others must be one of off, sandbox/],
    ['other', 'off', /other is unknown; did you mean others\?/],
  ];

  it.each(cases)('at %s (%j) is reported with its place, and without secrets', (place, value, told) => {
    const faults = faultsOf(changed(place, value));
    expect(faults.filter((fault) => told.test(fault))).toHaveLength(1);
    expect(faults.join('\n')).not.toContain(secret);
  });

  it('does not hide another: all are reported at once', () => {
    const root = least() as { networks: { ethereum: Record<string, unknown>; litecoin: Record<string, unknown> } };
    root.networks.ethereum.chain_id = 'one';
    root.networks.ethereum.limits = undefined;
    root.networks.litecoin.net = 5;
    root.networks.litecoin.nodes = [{ url: 'nonsense', password: secret }];
    const faults = faultsOf(stringify(root));
    expect(faults.map((fault) => fault.split(' ')[1])).toEqual([
      'networks.ethereum.chain_id',
      'networks.ethereum.limits.ETH',
      'networks.litecoin.net',
      'networks.litecoin.nodes[0].url',
      'networks.litecoin.nodes[0].user',
    ]);
  });

  it('of the YAML syntax is reported by its position, without the text there', () => {
    for (const text of [
      `networks:\n\t${secret}`,
      `a: *${secret}`,
      `a: 1\na: ${secret}`,
      `a: "${secret}`,
      `!x ${secret}`,
    ]) {
      const faults = faultsOf(text);
      expect(faults.length).toBeGreaterThan(0);
      expect(faults.join('\n')).not.toContain(secret);
    }
    expect(faultsOf(`networks:\n  a: 1\n  a: ${secret}`)).toEqual(['networks.yaml: line 3, column 3: duplicate key']);
    expect(faultsOf('')[0]).toContain('the file must be a section');
    expect(() => loadNetworks(join(folder, 'nowhere'), chainCoins)).toThrow(NetworkFileError);
  });

  it('includes a token address that YAML reads as a number', () => {
    const text = changed('networks.ethereum.tokens', { USDT: 1 }).replace(
      'USDT: 1',
      'USDT: 0xdAC17F958D2ee523a2206206994597C13D831ec7',
    );
    expect(faultsOf(text)).toContainEqual(expect.stringMatching(/tokens\.USDT must be text: write it in quotes/));
  });

  it('includes a network of value together with a test network or the sandbox', () => {
    expect(faultsOf(changed('networks.litecoin.net', 'main'))).toEqual([
      expect.stringMatching(/main networks \(litecoin\) and test networks \(ethereum\)/),
    ]);
    const main = parse(changed('networks.ethereum.chain_id', 1));
    main.networks.litecoin.net = 'main';
    main.others = 'sandbox';
    expect(faultsOf(stringify(main))).toEqual([expect.stringMatching(/others may not be sandbox with main networks/)]);
    expect(faultsOf(changed('others', 'sandbox'))).toEqual([]);
  });
});

describe('the parser of the file', () => {
  it('knows every EVM chain of the table of networks', () => {
    const chains = new Set(
      allNetworks()
        .filter(({ family }) => family === 'evm')
        .map(({ chain }) => chain),
    );
    expect([...evmChains].sort()).toEqual([...chains].sort());
    for (const chain of [...evmChains, 'bitcoin', 'litecoin', 'dogecoin']) {
      expect(chainCoins(chain).filter(({ isToken }) => !isToken)).toHaveLength(1);
    }
  });

  it('refuses text in place of a boolean', () => {
    expect(() => flag.read('true')).toThrow('without quotes');
  });
});

describe('the networks of a process', () => {
  it('are all on the sandbox without a file', () => {
    const networks = new LiveNetworks(null);
    expect(networks.chains('sandbox')).toHaveLength(new Set(allNetworks().map(({ chain }) => chain)).size);
    expect(networks.areOfValue).toBe(false);
    expect(networks.offers({ coin: 'XRP', network: 'XRP', contract: null })).toBe(true);
  });

  it('are live or off with a file, and offer the tokens that it names', () => {
    const text = changed('networks.ethereum.tokens', { USDT: '0xdac17f958d2ee523a2206206994597c13d831ec7' }).replace(
      'per_day: "10"',
      'per_day: "10"\n      USDT: { per_payment: "1", per_day: "2" }',
    );
    const networks = new LiveNetworks(readNetworks(text, 'x', chainCoins));
    expect([networks.state('ethereum'), networks.state('tron')]).toEqual(['live', 'off']);
    expect(networks.chains('live')).toEqual(['litecoin', 'ethereum']);
    const offers = (coin: string, network: string, contract: string | null) =>
      networks.offers({ coin, network, contract });
    expect([offers('ETH', 'ETH', null), offers('USDT', 'ERC20', '0x'), offers('USDC', 'ERC20', '0x')]).toEqual([
      true,
      true,
      false,
    ]);
    expect([offers('XRP', 'XRP', null), offers('USDT', 'TRC20', 'T')]).toEqual([false, false]);
  });
});
