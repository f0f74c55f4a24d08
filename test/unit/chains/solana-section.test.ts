import { encodeSolana } from '../../../src/chains/addresses/solana.ts';
import { mainChainId } from '../../../src/chains/networks/caip.ts';
import { FileSection } from '../../../src/chains/networks/file-section.ts';
import { solanaFamily } from '../../../src/chains/solana/solana-family.ts';
import {
  isListed,
  readSolanaSection,
  type SolanaNetwork,
  solanaPath,
} from '../../../src/chains/solana/solana-section.ts';
import { chainCoins } from '../../../src/market/currencies/chain-coins.ts';
import { liveLimits } from '../../../src/signer/live-limits.ts';
import { SignerKeys } from '../../../src/signer/signer-keys.ts';

const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const usdt = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB';
const mainnet = '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d';
const devnet = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
const limit = { per_payment: '20000', per_day: '200000' };
const least = {
  ...{ kind: 'solana', net: 'mainnet', start_height: 7, limits: { SOL: limit } },
  nodes: [{ url: 'https://node.example/' }],
};

/** Sections of a file are maps. */
function asMap(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asMap);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return new Map(members.map(([name, member]) => [name, asMap(member)]));
}

function readWith(change: Record<string, unknown>): { network: SolanaNetwork; faults: string[] } {
  const faults: string[] = [];
  const section = new FileSection(asMap({ ...least, ...change }), 'networks.solana', faults);
  section.required('kind', { good: 'solana', read: String });
  const network = readSolanaSection(section, 'solana', chainCoins('solana'));
  section.end();
  return { network, faults };
}

function read(change: Record<string, unknown> = {}): SolanaNetwork {
  const { network, faults } = readWith(change);
  expect(faults).toEqual([]);
  return network;
}

test('a section that says only what it must has the usual settings', () => {
  expect(read()).toMatchObject({
    ...{ kind: 'solana', chain: 'solana', net: 'mainnet', genesis: mainnet, finality: 'finalized' },
    ...{ startHeight: 7, pollMs: 1_000, reorgWindow: 20, stalledAfterSec: 60, tokens: new Map() },
    feeLimits: { perTransaction: '0.03', perDay: '1.5' },
  });
  expect(liveLimits(read(), chainCoins('solana')).assets.get('')?.perPayment).toBe(20_000_000_000_000n);
});

test('a section may say more', () => {
  const more = { tokens: { USDC: usdc, USDT: usdt }, limits: { SOL: limit, USDC: limit, USDT: limit } };
  const network = read({ ...more, two_nodes_above: { SOL: '5', USDC: '1000' }, sweep_from: { USDT: '20' } });
  expect(network.twoNodesAbove).toEqual(
    new Map([
      ['', 5_000_000_000n],
      [usdc, 1_000_000_000n],
    ]),
  );
  expect([usdc, usdt, mainnet].map((mint) => isListed(network, mint))).toEqual([true, true, false]);
});

test.each<[string, Record<string, unknown>, RegExp]>([
  ['no net', { net: undefined }, /net is missing; a good value: mainnet/],
  ['another net', { net: 'main' }, /net must be one of mainnet, testnet, devnet, private/],
  ['the block 0 of another net', { genesis: devnet }, /genesis is not that of net mainnet/],
  ['a private net without block 0', { net: 'private' }, /genesis is missing/],
  ['a private net with a wrong block 0', { net: 'private', genesis: '0x5eykt4' }, /must be the hash of block 0/],
  ['another finality', { finality: 'confirmed' }, /finality must be one of finalized/],
  ['a token that the catalogue lacks', { tokens: { PYUSD: usdc } }, /is no token of the catalogue on solana/],
  ['a mint that is no address', { tokens: { USDC: 'usdc' }, limits: { SOL: limit, USDC: limit } }, /is no contract/],
  ['an unknown member', { expire_after_sec: 60 }, /expire_after_sec is unknown/],
])('%s is a fault', (_name, change, expected) => {
  expect(readWith(change).faults.join('\n')).toMatch(expected);
});

test('the names and the value of networks', () => {
  const [main, test] = [read(), read({ net: 'devnet' })];
  // Also while no node has told its block 0.
  for (const genesis of ['', mainnet, devnet]) {
    const identities = [main, test].map((network) => solanaFamily.identityOf(network, genesis));
    expect(identities.map((identity) => solanaFamily.isWorthless(identity))).toEqual([false, true]);
  }
  expect(solanaFamily.isWorthless('solana:')).toBe(false);
  expect(solanaFamily.isWorthless(`stellar:${devnet}`)).toBe(false);
  expect(solanaFamily.chainIdOf(main)).toBe(mainChainId('solana'));
  expect(solanaFamily.chainIdOf(test)).toBe(`solana:${devnet.slice(0, 32)}`);
  expect([main, test].map((network) => solanaFamily.genesisOf(network))).toEqual([mainnet, devnet]);
  expect(solanaFamily.netName(test)).toBe('devnet');
  expect(solanaFamily.finalityDepth(main)).toBe(1);
});

test('the path of a deposit key is that of its address in the pool', () => {
  const keys = new SignerKeys(new Uint8Array(32).fill(3));
  expect(solanaPath('solana')).toBe("m/44'/501'/0'/0'");
  expect(solanaPath('solana', 12)).toBe("m/44'/501'/12'/0'");
  const { publicKey } = keys.ed25519(solanaPath('solana', 12));
  expect(keys.poolAddress('SOL', 12)).toBe(encodeSolana(publicKey));
  expect(() => solanaPath('stellar')).toThrow('stellar is not Solana');
});
