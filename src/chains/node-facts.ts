import { ChainError } from './chain-adapter.ts';
import { JsonRpcNode, RpcError } from './json-rpc.ts';
import type { ChainCoin, EvmNetwork, NetworkConfig } from './network-config.ts';
import { utxoParams } from './utxo/utxo-params.ts';

/** What of a node never changes by itself. */
export interface NodeFacts {
  /** Without what is secret in its address. */
  readonly node: string;
  /** Hash of block 0, null when it did not tell. */
  readonly genesis: string | null;
  /** What is wrong for good, as the ends of sentences about the node: somebody must change the settings. */
  readonly faults: readonly string[];
  /** What may mend, as whole sentences: it does not answer, or does not know yet. */
  readonly troubles: readonly string[];
}

/** A start waits no longer for a node. */
const timeoutMs = 5_000;

/** Asks every node of a network what decides whether it is the right one. Never throws for what a node says. */
export function askNodeFacts(network: NetworkConfig, coins: readonly ChainCoin[]): Promise<NodeFacts[]> {
  return Promise.all(
    network.nodes.map(async (config) => {
      const node = new JsonRpcNode(config, { timeoutMs, maxBytes: 1024 * 1024 });
      const notes: Notes = { faults: [], troubles: [] };
      const genesis = await patiently(node, notes, () =>
        network.kind === 'evm' ? evmFacts(node, network, coins, notes) : utxoFacts(node, network, notes),
      );
      return { node: node.name, genesis, ...notes };
    }),
  );
}

interface Notes {
  readonly faults: string[];
  readonly troubles: string[];
}

async function patiently<T>(node: JsonRpcNode, { troubles }: Notes, question: () => Promise<T>): Promise<T | null> {
  try {
    return await question();
  } catch (error) {
    if (!(error instanceof ChainError || error instanceof RpcError)) throw error;
    troubles.push(
      error instanceof RpcError ? `the node at ${node.name} refuses a question: ${error.message}` : error.message,
    );
    return null;
  }
}

async function utxoFacts(
  node: JsonRpcNode,
  { chain, net }: Extract<NetworkConfig, { kind: 'utxo' }>,
  { faults }: Notes,
): Promise<string | null> {
  const genesis = await node.call<unknown>('getblockhash', [0]);
  if (genesis === utxoParams(chain, net).genesis) return genesis;
  faults.push(`is a node of another chain than ${chain} ${net}`);
  return null;
}

async function evmFacts(
  node: JsonRpcNode,
  network: EvmNetwork,
  coins: readonly ChainCoin[],
  notes: Notes,
): Promise<string | null> {
  const chainId = await quantity(node, 'eth_chainId');
  if (chainId !== BigInt(network.chainId)) {
    notes.faults.push(`is a node of chain ${chainId}, and the settings say ${network.chainId}`);
    return null;
  }
  const first = await node.call<{ hash?: unknown } | null>('eth_getBlockByNumber', ['0x0', false]);
  const genesis = typeof first?.hash === 'string' && /^0x[0-9a-f]{64}$/.test(first.hash) ? first.hash : null;
  if (genesis === null) notes.troubles.push(`the node at ${node.name} does not tell its first block`);
  // Until a node has reached the present, what it lacks may still come.
  const head = await quantity(node, 'eth_blockNumber');
  if (head < BigInt(network.startHeight)) {
    notes.troubles.push(`the node at ${node.name} is at block ${head}, below start_height ${network.startHeight}`);
  } else if ((await node.call('eth_syncing')) !== false) {
    notes.troubles.push(`the node at ${node.name} is still syncing`);
  } else {
    for (const [coin, contract] of network.tokens) {
      const decimals = coins.find((each) => each.coin === coin)?.decimals;
      await patiently(node, notes, () => tokenFacts(node, { coin, contract, decimals }, notes));
    }
  }
  return genesis;
}

/** First four bytes of the hash of 'decimals()', https://eips.ethereum.org/EIPS/eip-20 */
const decimalsSelector = '0x313ce567';
/** Geth's code for a call that the contract itself ended. */
const reverted = 3;

async function tokenFacts(
  node: JsonRpcNode,
  { coin, contract, decimals }: { coin: string; contract: string; decimals: number | undefined },
  { faults }: Notes,
): Promise<void> {
  if ((await node.call('eth_getCode', [contract, 'latest'])) === '0x') {
    faults.push(`has no contract at tokens.${coin}, ${contract}`);
    return;
  }
  const told = await toldDecimals(node, contract);
  if (told === null) faults.push(`has a contract at tokens.${coin} that tells no decimals, so it is no token`);
  else if (told !== BigInt(decimals ?? -1)) {
    faults.push(`has a token of ${told} decimals at tokens.${coin}, and the catalogue's ${coin} has ${decimals}`);
  }
}

async function toldDecimals(node: JsonRpcNode, contract: string): Promise<bigint | null> {
  try {
    const answer = await node.call<unknown>('eth_call', [{ to: contract, data: decimalsSelector }, 'latest']);
    return typeof answer === 'string' && /^0x[0-9a-f]{64}$/.test(answer) ? BigInt(answer) : null;
  } catch (error) {
    if (error instanceof RpcError && error.code === reverted) return null;
    throw error;
  }
}

async function quantity(node: JsonRpcNode, method: string): Promise<bigint> {
  const value = await node.call<unknown>(method);
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/.test(value)) return BigInt(value);
  throw new ChainError('unsound_answer', `the node at ${node.name} answers ${method} with no number`);
}
