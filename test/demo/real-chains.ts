// One exchange between two real chains, on nodes, a signer and a separate gateway that leave
// nothing behind.
// Usage: npm run demo -- <name>, one of: evm, utxo, tron, xrp, stellar,
// solana, ton, monero
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '../../src/base/clock.ts';
import { toUnits } from '../../src/base/money.ts';
import { randomAddress } from '../support/chains/anvil.ts';
import { findLitecoind } from '../support/chains/litecoind.ts';
import { hasMonerod, withoutMonerod } from '../support/chains/monerod.ts';
import { RealChains } from '../support/chains/real-chains.ts';
import { BuiltProcess, runBuilt } from '../support/gateway/built-process.ts';

const help = `Usage: npm run demo -- evm [--help]    an order from ETH on an Ethereum node to LTC on a Litecoin node
       npm run demo -- utxo [--help]   an order from LTC to USDT, a token on the Ethereum node
       npm run demo -- tron [--help]   an order from USDT to TRX, both on two simulated Tron nodes
       npm run demo -- xrp [--help]    an order from LTC to XRP, on two simulated servers of the XRP Ledger
       npm run demo -- stellar [--help]   an order from USDC to XLM, both on two simulated servers of Stellar
       npm run demo -- solana [--help]   an order from USDC to SOL, both on two simulated servers of Solana
       npm run demo -- ton [--help]   an order from USDT to TON, both on two simulated indexes of TON
       npm run demo -- monero [--help]   an order from LTC to XMR, on a Monero node and its wallets

Starts anvil and litecoind with chains of their own, a signer and a gateway in a temporary folder; creates an order over
REST, pays it with a real transaction, makes blocks, tells each change until the payout, and reads the payout back from
the other node. No node of Tron, of the XRP Ledger, of Stellar, of Solana or of TON runs here: these are simulated from
their documentation, and answer over HTTP. Those of Solana and TON execute in their real virtual machines. Needs litecoind (Debian: apt-get install litecoind), and for
Monero its node and wallets (Debian: apt-get install monero). Exit code: 0 when the recipient was paid.
`;

interface Direction {
  readonly title: string;
  readonly order: Readonly<Record<string, unknown>>;
  recipient(chains: RealChains): Promise<string> | string;
  pay(chains: RealChains, to: Deposit, amount: string): Promise<string>;
  /** What the recipient has on the chain, in smallest units. */
  paid(chains: RealChains, recipient: string): Promise<bigint>;
  readonly decimals: number;
  /** The payout as its node tells it. */
  read(chains: RealChains, txid: string): Promise<string>;
  /** Whether the hot wallet has set itself up for the order; absent where it needs no set-up. */
  isReady?(chains: RealChains, hot: string): boolean;
}

/** Where an order is paid. */
interface Deposit {
  readonly address: string;
  readonly tag: string | null;
}

const directions: Readonly<Record<string, Direction>> = {
  evm: {
    title: 'ETH on anvil to LTC on litecoind',
    order: { coin_from: 'ETH', network_from: 'ETH', coin_to: 'LTC', network_to: 'LTC', amount_from: 0.5 },
    recipient: ({ litecoind }) => litecoind.newAddress(),
    pay: ({ anvil }, { address }, amount) => anvil.send(address, toUnits(amount, 18)),
    paid: ({ litecoind }, recipient) => litecoind.balance(recipient),
    decimals: 8,
    read: async ({ litecoind }, txid) => {
      const hash = await litecoind.rpc<string>('getbestblockhash');
      for (let block = hash; ; ) {
        const { tx, height, previousblockhash } = await litecoind.rpc<{
          tx: { txid: string; vout: { value: string; scriptPubKey: { addresses?: string[] } }[] }[];
          height: string;
          previousblockhash: string;
        }>('getblock', block, 2);
        const found = tx.find((one) => one.txid === txid);
        if (!found) {
          block = previousblockhash;
          continue;
        }
        const outputs = found.vout.map(({ value, scriptPubKey }) => `${value} LTC to ${scriptPubKey.addresses?.[0]}`);
        return `in block ${height}: ${outputs.join(', ')}`;
      }
    },
  },
  utxo: {
    title: 'LTC on litecoind to USDT, a token on anvil',
    order: { coin_from: 'LTC', network_from: 'LTC', coin_to: 'USDT', network_to: 'ERC20', amount_from: 2 },
    recipient: () => randomAddress(),
    pay: ({ litecoind }, { address }, amount) => litecoind.pay(address, toUnits(amount, 8)),
    paid: ({ anvil, token }, recipient) => anvil.balance(recipient, token),
    decimals: 6,
    read: async ({ anvil }, txid) => {
      const receipt = await anvil.rpc<{
        blockNumber: string;
        status: string;
        logs: { data: string; topics: string[] }[];
      }>('eth_getTransactionReceipt', txid);
      const [log] = receipt.logs;
      const to = `0x${log?.topics[2]?.slice(26)}`;
      return `in block ${Number(receipt.blockNumber)}, status ${receipt.status}: ${BigInt(log?.data ?? '0x0')} units to ${to}`;
    },
  },
  tron: {
    title: 'USDT on TRC20 to TRX, both on simulated Tron nodes',
    order: { coin_from: 'USDT', network_from: 'TRC20', coin_to: 'TRX', network_to: 'TRX', amount_from: 100 },
    recipient: ({ tron }) => tron.chain.address(),
    pay: ({ tron }, { address }, amount) => tron.chain.pay(address, tron.token, toUnits(amount, 6)),
    paid: ({ tron }, recipient) => tron.chain.balance(recipient),
    decimals: 6,
    read: async ({ tron }, txid) => {
      const [, second] = tron.nodes;
      const body = JSON.stringify({ value: txid });
      const answer = await fetch(`${second.config.url}/wallet/gettransactioninfobyid`, { method: 'POST', body });
      const { blockNumber, fee } = (await answer.json()) as { blockNumber: number; fee: number };
      return `in block ${blockNumber}, for a fee of ${fee} sun`;
    },
  },
  xrp: {
    title: 'LTC on litecoind to XRP, on simulated servers of the XRP Ledger',
    order: { coin_from: 'LTC', network_from: 'LTC', coin_to: 'XRP', network_to: 'XRP', amount_from: 2 },
    recipient: ({ xrp }) => xrp.chain.newKey().address,
    pay: ({ litecoind }, { address }, amount) => litecoind.pay(address, toUnits(amount, 8)),
    paid: async ({ xrp }, recipient) => xrp.chain.balance(recipient),
    decimals: 6,
    read: async ({ xrp }, txid) => {
      const [, second] = xrp.nodes;
      const { result } = await ask<{
        result: { ledger_index: number; meta: { delivered_amount: string }; tx_json: { TicketSequence?: number } };
      }>(second.config.url, { method: 'tx', params: [{ api_version: 2, transaction: txid, binary: false }] });
      const ticket = result.tx_json.TicketSequence;
      const how = ticket === undefined ? 'the next sequence number' : `ticket ${ticket}`;
      return `in ledger ${result.ledger_index}, by ${how}: ${result.meta.delivered_amount} drops delivered`;
    },
  },
  stellar: {
    title: 'USDC to XLM, both on simulated servers of Stellar',
    order: { coin_from: 'USDC', network_from: 'XLM', coin_to: 'XLM', network_to: 'XLM', amount_from: 100 },
    recipient: ({ stellar }) => stellar.chain.newKey().address,
    pay: async ({ stellar }, { address, tag }, amount) =>
      stellar.chain.pay(stellar.chain.bank, address, toUnits(amount, 7), {
        asset: stellar.asset,
        memo: BigInt(tag ?? ''),
      }),
    paid: async ({ stellar }, recipient) => stellar.chain.balance(recipient),
    decimals: 7,
    read: async ({ stellar }, txid) => {
      const [, second] = stellar.nodes;
      const call = { jsonrpc: '2.0', id: 1, method: 'getTransaction', params: { hash: txid } };
      const { result } = await ask<{ result: { status: string; ledger: number } }>(second.config.url, call);
      return `in ledger ${result.ledger}, ${result.status}`;
    },
    isReady: ({ stellar }, hot) => stellar.chain.head.state.trustLine(hot, stellar.asset) !== null,
  },
  solana: {
    title: 'USDC to SOL, both on simulated servers of Solana',
    order: { coin_from: 'USDC', network_from: 'SOL', coin_to: 'SOL', network_to: 'SOL', amount_from: 100 },
    recipient: ({ solana }) => solana.chain.newKey().address,
    pay: async ({ solana }, { address }, amount) =>
      solana.chain.pay(solana.chain.bank, address, toUnits(amount, 6), { mint: solana.usdc }),
    paid: async ({ solana }, recipient) => solana.chain.balance(recipient),
    decimals: 9,
    read: async ({ solana }, txid) => {
      const [, second] = solana.nodes;
      const call = { jsonrpc: '2.0', id: 1, method: 'getSignatureStatuses', params: [[txid]] };
      const { result } = await ask<{ result: { value: { slot: number; confirmationStatus: string }[] } }>(
        second.config.url,
        call,
      );
      return result.value.map(({ slot, confirmationStatus }) => `in slot ${slot}, ${confirmationStatus}`).join();
    },
  },
  ton: {
    title: 'USDT to TON, both on simulated indexes of TON',
    order: { coin_from: 'USDT', network_from: 'TON', coin_to: 'TON', network_to: 'TON', amount_from: 100 },
    recipient: ({ ton }) => ton.newAddress(),
    pay: async ({ ton }, { address, tag }, amount) => ton.pay(address, tag, toUnits(amount, 6), true),
    paid: async ({ ton }, recipient) => ton.received(recipient),
    decimals: 9,
    read: async ({ ton }, txid) => {
      const [, second] = ton.nodes;
      const found = await fetch(`${second.url}/api/v3/transactionsByMessage?msg_hash=${txid}`);
      const { transactions } = (await found.json()) as { transactions: { mc_block_seqno: number; lt: string }[] };
      return transactions.map(({ mc_block_seqno, lt }) => `in block ${mc_block_seqno}, at ${lt}`).join();
    },
  },
  monero: {
    title: 'LTC on litecoind to XMR on monerod',
    order: { coin_from: 'LTC', network_from: 'LTC', coin_to: 'XMR', network_to: 'XMR', amount_from: 2 },
    recipient: ({ monero }) => monero.address(),
    pay: ({ litecoind }, { address }, amount) => litecoind.pay(address, toUnits(amount, 8)),
    paid: ({ monero }, recipient) => monero.balance(recipient),
    decimals: 12,
    read: async ({ monero }, txid) => {
      const { txs = [] } = await monero.post<{ txs?: { block_height: string; as_hex: string }[] }>('get_transactions', {
        txs_hashes: [txid],
      });
      return txs.map((tx) => `in block ${tx.block_height}, of ${tx.as_hex.length / 2} bytes without any amount`).join();
    },
  },
};

/** The JSON that a server answers to a call. */
async function ask<T>(url: string, call: object): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return (await (await fetch(url, { method: 'POST', headers, body: JSON.stringify(call) })).json()) as T;
}

const orderTimeoutMs = 60_000;
/** The gateway decides a set-up every 30 s. */
const setupTimeoutMs = 150_000;
const blockMs = 150;
const ends = ['completed', 'expired', 'refunded', 'failed'];
const began = performance.now();
const programs: BuiltProcess[] = [];

type Settings = Readonly<Record<string, string>> & { readonly DATA_DIR: string };

function tell(what: string, ...details: readonly string[]): void {
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  process.stdout.write(`${seconds.padStart(6)} s  ${what}\n${details.map((line) => `          ${line}\n`).join('')}`);
}

/** Starts a program of ours, and waits until it is ready. Returns what it printed. */
async function start(script: string, ready: RegExp, settings: Settings): Promise<string> {
  const program = new BuiltProcess({ script, name: script, folder: settings.DATA_DIR, settings, ready });
  programs.push(program);
  return program.ready();
}

/** What a program of ours prints until its end. */
async function run(script: string, args: readonly string[], settings: Settings, good = [0]): Promise<string> {
  const { code, output, errors } = await runBuilt(script, args, { folder: settings.DATA_DIR, settings });
  if (!good.includes(code) || output === '')
    throw new Error(`${script} ${args.join(' ')} ended with ${code}: ${errors}${output}`);
  return output;
}

/** A hot wallet as `network check` shows it. */
interface Wallet {
  readonly wallet: string;
  readonly funding_tag?: string;
}

interface Order {
  readonly id: string;
  readonly short_id: string;
  readonly status: string;
  readonly deposit_address: string;
  readonly deposit_address_tag?: string | null;
  readonly amount_from_expected: number;
  readonly amount_to_expected: number;
  readonly deposit_confirmations: number | null;
  readonly deposit_confirmations_required: number;
  readonly payout_txid: string | null;
}

async function demo(direction: Direction, chains: RealChains): Promise<void> {
  const settings = {
    ...chains.environment,
    DATA_DIR: chains.folder,
    PORT: '0',
    INTERNAL_PORT: '0',
    LOG_LEVEL: 'warn',
    SIGNER_PASSPHRASE: 'a demo needs no secret',
  };
  const simulated = chains.simulatedNodes.map(({ url }) => `simulated ${url}`);
  const urls = [`anvil ${chains.anvil.url}`, `litecoind ${chains.litecoind.config.url}`, ...simulated];
  if (chains.hasMonero) urls.push(`monerod ${chains.monero.config.url}`);
  tell('nodes with chains of their own', urls.join(', '));
  await run('signer-main.js', ['init'], settings);
  await start('signer-main.js', /^signer ready .*$/m, settings);
  tell('the signer holds the keys, sealed with a passphrase, in a process of its own');
  const printed = await start('main.js', /^ready rest=\S+ internal=\S+$/m, settings);
  const rest = /^ready rest=(\S+)/m.exec(printed)?.[1] ?? '';
  const key = /^demo partner key, shown this once: (\S+)$/m.exec(printed)?.[1] ?? '';
  tell(`the gateway is ready at ${rest}`);

  const { wallets } = JSON.parse(await run('surfaces/cli/main.js', ['network', 'check', '--json'], settings, [0, 1]));
  const walletOf = (chain: string): Wallet =>
    wallets.find((row: Wallet & { chain: string }) => row.chain === chain) ?? { wallet: '' };
  const [ripple, stellar, ton] = [walletOf('ripple'), walletOf('stellar'), walletOf('ton')];
  const [ethereum, litecoin, tron, solana, monero] = ['ethereum', 'litecoin', 'tron', 'solana', 'monero'].map(
    (chain) => walletOf(chain).wallet,
  );
  await chains.fund({ ethereum: ethereum ?? '', litecoin: litecoin ?? '', tron: tron ?? '' });
  if (chains.hasXrp) chains.xrp.fund(ripple.wallet, ripple.funding_tag ?? '');
  if (chains.hasStellar) chains.stellar.open(stellar.wallet, stellar.funding_tag ?? '');
  if (chains.hasSolana) chains.solana.fund(solana ?? '');
  if (chains.hasTon) chains.ton.fund(ton.wallet, ton.funding_tag ?? '');
  if (chains.hasMonero) await chains.monero.fund(monero ?? '');
  const all = [ethereum, litecoin, tron, ripple.wallet, stellar.wallet, solana, ton.wallet, monero];
  const funded = all.filter((wallet) => wallet);
  tell('the hot wallets were funded by ordinary transactions', ...funded.map(String));

  const mining = new AbortController();
  const miner = (async () => {
    while (!mining.signal.aborted) {
      // Enough for the confirmations that a fresh installation asks for, 64 on Ethereum.
      await chains.anvil.mine(3);
      await chains.mine();
      await sleep(blockMs);
    }
  })();
  try {
    if (direction.isReady) {
      for (let turn = 0; !direction.isReady(chains, stellar.wallet); turn += 1) {
        if (turn > setupTimeoutMs / 200) throw new Error('the hot wallet did not set itself up');
        await sleep(200);
      }
      chains.stellar.fund(stellar.wallet, stellar.funding_tag ?? '');
      tell('the hot wallet set itself up, and has a trust line for the token');
    }
    await exchange(direction, chains, rest, key);
  } finally {
    mining.abort();
    await miner;
  }
  tell(
    'the book and both chains',
    (await run('surfaces/cli/main.js', ['ledger', 'reconcile'], settings)).trim().split('\n').at(-1) ?? '',
  );
}

async function exchange(direction: Direction, chains: RealChains, rest: string, key: string): Promise<void> {
  const recipient = await direction.recipient(chains);
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ ...direction.order, rate_type: 'float', recipient_address: recipient });
  const answer = await fetch(`${rest}/partner/orders`, { method: 'POST', headers, body });
  let order = (await answer.json()) as Order;
  if (answer.status !== 201) throw new Error(`the order was refused: ${JSON.stringify(order)}`);
  tell(
    `order ${order.short_id}: ${direction.title}`,
    `pay to ${order.deposit_address}${tagged(order)}`,
    `receive at ${recipient}`,
  );
  const to = { address: order.deposit_address, tag: order.deposit_address_tag ?? null };
  const paidAt = performance.now();
  const deposit = await direction.pay(chains, to, String(order.amount_from_expected));
  tell(`paid ${order.amount_from_expected} with a real transaction`, deposit);
  let shown = '';
  for (const deadline = Date.now() + orderTimeoutMs; !ends.includes(order.status); await sleep(100)) {
    if (Date.now() > deadline) throw new Error(`the order was ${order.status} for too long`);
    const reply = await fetch(`${rest}/partner/orders/${order.id}`, { headers });
    if (!reply.ok) continue;
    order = (await reply.json()) as Order;
    if (order.status !== shown) tell(order.status);
    shown = order.status;
  }
  if (order.status !== 'completed' || order.payout_txid === null) throw new Error(`the order ended as ${order.status}`);
  const paid = await direction.paid(chains, recipient);
  tell(`payout ${order.payout_txid}`, await direction.read(chains, order.payout_txid));
  if (paid === 0n) throw new Error('the recipient has nothing');
  tell(
    `the other node says that the recipient has ${paid} of the smallest unit`,
    `${((performance.now() - paidAt) / 1000).toFixed(1)} s after the payment`,
  );
}

function tagged({ deposit_address_tag: tag }: Order): string {
  return tag ? `, with the tag ${tag}` : '';
}

async function main(): Promise<void> {
  const name = process.argv[2] ?? '';
  const direction = directions[name];
  if (!direction || process.argv.includes('--help')) {
    process.stdout.write(help);
    process.exitCode = direction ? 0 : 1;
    return;
  }
  if (findLitecoind() === null) throw new Error('litecoind is needed; on Debian: apt-get install litecoind');
  if (name === 'monero' && !hasMonerod()) throw new Error(withoutMonerod);
  const clockOf = (one: string): typeof systemClock | undefined => (name === one ? systemClock : undefined);
  const toStart = {
    tron: clockOf('tron'),
    xrp: clockOf('xrp'),
    stellar: clockOf('stellar'),
    solana: clockOf('solana'),
    ton: clockOf('ton'),
    monero: name === 'monero',
  };
  const chains = await RealChains.start({}, toStart);
  try {
    await demo(direction, chains);
  } finally {
    for (const program of programs.reverse()) await program.end('SIGTERM');
    await chains.stop();
  }
}

try {
  await main();
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`the demo failed: ${error instanceof Error ? error.message : String(error)}\n`);
}
