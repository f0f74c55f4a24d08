import { fromUnits } from '../../../src/base/money.ts';
import { EvmAdapter } from '../../../src/chains/evm/evm-adapter.ts';
import type { EvmNetwork } from '../../../src/chains/evm/evm-section.ts';
import { utxoParams } from '../../../src/chains/networks/utxo-params.ts';
import type { ChainAdapter } from '../../../src/chains/port/chain-adapter.ts';
import { SolanaAdapter } from '../../../src/chains/solana/solana-adapter.ts';
import { TonAdapter } from '../../../src/chains/ton/ton-adapter.ts';
import { TronAdapter } from '../../../src/chains/tron/tron-adapter.ts';
import type { TronNetwork } from '../../../src/chains/tron/tron-section.ts';
import { UtxoAdapter } from '../../../src/chains/utxo/utxo-adapter.ts';
import type { UtxoNetwork } from '../../../src/chains/utxo/utxo-section.ts';
import { HostileEvm } from '../../support/chains/hostile-evm.ts';
import type { Credit, HostileNode } from '../../support/chains/hostile-node.ts';
import { HostileSolana } from '../../support/chains/hostile-solana.ts';
import { HostileTon } from '../../support/chains/hostile-ton.ts';
import { HostileTron } from '../../support/chains/hostile-tron.ts';
import { HostileUtxo } from '../../support/chains/hostile-utxo.ts';
import { solanaNetwork } from '../../support/chains/solana-setup.ts';
import { fundingTag, tonNetwork } from '../../support/chains/ton-harness.ts';
import { Dice } from '../../support/gateway/dice.ts';
import { type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// The same chains each time; `npm run fuzz -- --chains` explores others.
const runs = Number(process.env.CHAIN_FUZZ_RUNS ?? '1');
const firstSeed = Number(process.env.CHAIN_FUZZ_SEED ?? '7');
const blocksOfRun = 24;
const tokens = {
  ethereum: '0xdAC17F958D2ee523a2206206994597C13D831ec7',
  tron: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  solana: 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB',
};
const hot = {
  ethereum: '0x00000000000000000000000000000000DeaDBeef',
  litecoin: 'ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9',
  tron: 'TXYiRqNY9xSjpuLQhhH3UPQx6A7Lsx34gW',
  solana: 'HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk',
};

const shared = {
  ...{ startHeight: 0, pollMs: 0, reorgWindow: 16, stalledAfterSec: 0, replaceAfterSec: 60 },
  ...{ limits: new Map(), levels: new Map(), sweepFrom: new Map() },
};

function evmAdapter(node: HostileNode): ChainAdapter {
  const network: EvmNetwork = {
    ...shared,
    ...{ kind: 'evm', chain: 'ethereum', nodes: [node.config], chainId: 1, finality: 3, internalTransfers: 'trace' },
    ...{
      tokens: new Map([['USDT', tokens.ethereum]]),
      maxFeePerGas: 10n ** 12n,
      maxPaymentGas: 10n ** 5n,
      maxTokenGas: 10n ** 6n,
    },
  };
  return new EvmAdapter({ network, hotWallet: hot.ethereum, addresses: { indexes: async () => new Map() } });
}

function utxoAdapter(node: HostileNode): ChainAdapter {
  const network: UtxoNetwork = {
    ...shared,
    ...{ kind: 'utxo', chain: 'litecoin', nodes: [node.config], net: 'main', finality: 3, mempool: true },
    ...{ feeFloor: 1_000n, feeCeiling: 100_000n, feeTarget: 2, replaceable: true, tokens: new Map() },
  };
  const none = async (): Promise<[]> => [];
  const outputs = { hot: none, spendable: none, lost: none, find: none, spentBy: none };
  return new UtxoAdapter({ network, hotWallet: hot.litecoin, outputs });
}

function tronAdapter(node: HostileNode): ChainAdapter {
  const network: TronNetwork = {
    ...shared,
    ...{ kind: 'tron', chain: 'tron', nodes: [node.config], net: 'private', genesis: node.blocks[0]?.hash ?? null },
    ...{ finality: 3, internalTransfers: 'trace', tokens: new Map([['USDT', tokens.tron]]) },
    ...{ twoNodesAbove: new Map(), expireAfterSec: 1_800 },
  };
  return new TronAdapter({ network, hotWallet: hot.tron, addresses: { indexes: async () => new Map() } });
}

function solanaAdapter(node: HostileNode): ChainAdapter {
  const changes = { genesis: node.blocks[0]?.hash ?? '', tokens: new Map([['USDT', tokens.solana]]) };
  const network = solanaNetwork([node.config], changes);
  return new SolanaAdapter({ network, hotWallet: hot.solana, addresses: { indexes: async () => new Map() } });
}

function tonAdapter(node: HostileNode, hotWallet: string): ChainAdapter {
  if (!(node instanceof HostileTon)) throw new Error('no TON');
  const first = { seqno: node.blocks[0]?.height ?? 0 };
  const network = tonNetwork({ globalId: node.globalId, first }, [node.config], {
    tokens: new Map([['USDT', node.token]]),
  });
  return new TonAdapter({ network, hotWallet, fundingTag, lastQuery: async () => -1 });
}

interface Kind {
  readonly chain: 'ethereum' | 'litecoin' | 'tron' | 'solana' | 'ton';
  /** Whether its newest blocks are taken back at times. */
  readonly reorgs: boolean;
  /** Contract of the token that plays USDT; undefined where the chain makes it. */
  readonly token: string | null | undefined;
  readonly orders: readonly { readonly coin: string; readonly network: string; readonly amount: number }[];
  readonly adapter: (node: HostileNode, depositAddress: string) => ChainAdapter;
  readonly node: (dice: Dice, ours: readonly string[]) => HostileNode;
  readonly decimals: (contract: string | null) => number;
}

const kinds: readonly Kind[] = [
  {
    chain: 'ethereum',
    reorgs: true,
    token: tokens.ethereum,
    orders: [
      { coin: 'ETH', network: 'ETH', amount: 1 },
      { coin: 'USDT', network: 'ERC20', amount: 100 },
      { coin: 'ETH', network: 'ETH', amount: 2 },
    ],
    adapter: evmAdapter,
    node: (dice, ours) => new HostileEvm(dice, { chainId: 1, token: tokens.ethereum, decimals: 6, ours }),
    decimals: (contract) => (contract === null ? 18 : 6),
  },
  {
    chain: 'litecoin',
    reorgs: true,
    token: null,
    orders: [
      { coin: 'LTC', network: 'LTC', amount: 1 },
      { coin: 'LTC', network: 'LTC', amount: 2 },
    ],
    adapter: utxoAdapter,
    node: (dice, ours) => new HostileUtxo(dice, { genesis: utxoParams('litecoin', 'main').genesis, ours }),
    decimals: () => 8,
  },
  {
    chain: 'tron',
    reorgs: true,
    token: tokens.tron,
    orders: [
      { coin: 'TRX', network: 'TRX', amount: 200 },
      { coin: 'USDT', network: 'TRC20', amount: 100 },
      { coin: 'TRX', network: 'TRX', amount: 300 },
    ],
    adapter: tronAdapter,
    node: (dice, ours) => new HostileTron(dice, { token: tokens.tron, ours }),
    decimals: () => 6,
  },
  {
    chain: 'solana',
    token: tokens.solana,
    reorgs: false,
    orders: [
      { coin: 'SOL', network: 'SOL', amount: 2 },
      { coin: 'USDT', network: 'SOL', amount: 100 },
      { coin: 'SOL', network: 'SOL', amount: 3 },
    ],
    adapter: solanaAdapter,
    node: (dice, ours) => new HostileSolana(dice, { token: tokens.solana, ours }),
    decimals: (contract) => (contract === null ? 9 : 6),
  },
  {
    chain: 'ton',
    token: undefined,
    reorgs: false,
    orders: [
      { coin: 'TON', network: 'TON', amount: 50 },
      { coin: 'USDT', network: 'TON', amount: 100 },
      { coin: 'TON', network: 'TON', amount: 60 },
    ],
    adapter: tonAdapter,
    node: (dice, [ours = '']) => new HostileTon(dice, { ours }),
    decimals: (contract) => (contract === null ? 9 : 6),
  },
];

describe.each(kinds)('a chain with hostile blocks: $chain', ({
  chain,
  reorgs: canReorganise,
  token,
  orders,
  adapter,
  node: makeNode,
  decimals,
}) => {
  let gateway: SettledGateway;
  let node: HostileNode | undefined;
  let live: ChainAdapter | undefined;
  beforeEach(async () => {
    const inPlace = (own: ChainAdapter): ChainAdapter =>
      own.chain !== chain
        ? own
        : new Proxy(own, {
            get(target, name) {
              const one = live ?? target;
              const value = Reflect.get(one, name, one);
              return typeof value === 'function' ? value.bind(one) : value;
            },
          });
    gateway = await startSettledGateway({ outside: { chain: inPlace } });
  });
  afterEach(async () => {
    live = undefined;
    await node?.stop();
    await gateway?.stop();
  });

  /** As the chain says; each at most as often as it is there. */
  const text = ({ address, contract, amount }: Credit): string =>
    `${address} ${contract ?? 'own'} ${fromUnits(amount, decimals(contract))}`;

  async function readToHead(): Promise<void> {
    for (let turn = 0; turn < 12; turn += 1) {
      await gateway.tick();
      gateway.clock.advance(11_000);
      const [state] = await gateway.query<{ height: string; problem: string | null; failure: string | null }>(
        'select height, problem, failure from chain_state where chain = $1',
        [chain],
      );
      if (Number(state?.height) === node?.head.height) {
        expect(state).toMatchObject({ problem: null, failure: null });
        return;
      }
    }
    throw new Error('the scan does not reach the head');
  }

  async function isCredited(): Promise<void> {
    const rows = await gateway.query<{ text: string }>(
      `select address || ' ' || coalesce(contract, 'own') || ' ' || trim_scale(amount) as text from deposit
        where chain = $1 and state in ('mined', 'credited')`,
      [chain],
    );
    const said = (node?.blocks ?? []).flatMap(({ credits }) => credits);
    expect(rows.map((row) => row.text).sort()).toEqual(said.map(text).sort());
  }

  it.each(
    Array.from({ length: runs }, (_, run) => firstSeed + run),
  )('is read to its head, and credits what it says and nothing else: seed %d', async (seed) => {
    const dice = new Dice(seed);
    const made: { depositAddress: string; depositTag: string | null; coin: string }[] = [];
    for (const { coin, network, amount } of orders) {
      const changes = { coin_from: coin, network_from: network, amount_from: amount, refund_address: undefined };
      const to =
        coin === 'USDT'
          ? { coin_to: 'BTC', network_to: 'BTC', recipient_address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }
          : {};
      made.push({ ...(await gateway.order({ ...changes, ...to })), coin });
    }
    node = await makeNode(
      dice,
      made.map(({ depositAddress }) => depositAddress),
    ).start();
    await gateway.query(
      `update chain_state set cursor_blocks = '[]', height = 0, head = 0, version = version + 1,
                                  fence = fence + 1, lease_owner = null, lease_until = null where chain = $1`,
      [chain],
    );
    if (node instanceof HostileTon) {
      await gateway.query(`update currency set contract = $1 where coin = 'USDT' and network = 'TON'`, [node.token]);
      await gateway.app.catalogue.refresh();
    }
    live = adapter(node, made[0]?.depositAddress ?? '');
    await readToHead();
    let reorgs = 0;
    let paid = 0;
    const usdt = token === undefined && node instanceof HostileTon ? node.token : (token ?? null);
    const append = async (): Promise<void> => {
      const { depositAddress: address, depositTag: tag, coin } = dice.pick(made);
      const contract = coin === 'USDT' ? usdt : null;
      paid += 1;
      await node?.append({ address, contract, tag, amount: 10n ** BigInt(decimals(contract)) + BigInt(paid) });
    };
    for (let block = 1; block <= blocksOfRun; block += 1) {
      await append();
      if (block % 6 !== 0) continue;
      await readToHead();
      if (dice.chance(0.5) || !canReorganise) continue;
      // A branch wins by being longer.
      reorgs += 1;
      const depth = Math.floor(dice.between(1, 5));
      node.reorg(depth);
      for (let other = 0; other <= depth; other += 1) await append();
    }
    await readToHead();
    await isCredited();
    // Confirmations for everything: each credit is booked once.
    for (let block = 0; block < 70; block += 1) await node.append(null);
    await readToHead();
    for (let turn = 0; turn < 3; turn += 1) await gateway.tick();
    await isCredited();
    const [booked] = await gateway.query<{ uneven: number; open: number }>(
      `select (select count(*)::int from deposit d
                  where d.chain = $1 and d.state = 'credited'
                    and (select coalesce(sum(l.amount), 0) from ledger_transaction x
                           join ledger_line l on l.transaction_id = x.id and l.account in ('deposits', 'hot')
                          where x.reference like d.chain || ':' || d.key || ':%'
                            and x.reference not like d.chain || ':' || d.key || ':%:%') <> d.amount) as uneven,
                (select count(*)::int from left_out_transfer where chain = $1) as open`,
      [chain],
    );
    const told = node.blocks.reduce((sum, one) => sum + one.leftOut, 0);
    expect(booked?.uneven).toBe(0);
    // What a reorganisation took back was reported as well.
    if (reorgs === 0) expect(booked?.open).toBe(told);
    else expect(booked?.open).toBeGreaterThanOrEqual(told);
  });
});
