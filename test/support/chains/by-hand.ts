import { WIF } from '@scure/btc-signer';
import { type EvmTx, signEvmTx } from '../../../src/chains/evm/evm-tx.ts';
import { hotWalletPath, networkOfChain } from '../../../src/chains/networks/networks.ts';
import type { UtxoParams } from '../../../src/chains/networks/utxo-params.ts';
import { outpointOf } from '../../../src/chains/utxo/outpoint.ts';
import type { SignerKeys } from '../../../src/signer/signer-keys.ts';
import type { Anvil } from './anvil.ts';
import type { Litecoind } from './litecoind.ts';

// What a person sends who has the seed of the hot wallet.

/**
 * Makes a transaction of a hot wallet, and of the node's wallet where it spends of that as well.
 * Change is one of the outputs. Returns its bytes, which are not sent.
 */
export async function utxoByHand(
  node: Litecoind,
  { params, keys, chain }: { readonly params: UtxoParams; readonly keys: SignerKeys; readonly chain: string },
  inputs: readonly string[],
  outputs: readonly object[],
): Promise<string> {
  const spent = inputs.map((key) => outpointOf({ key }));
  const unsigned = await node.rpc<string>('createrawtransaction', spent, outputs);
  const network = { ...params, bech32: params.bech32 ?? '' };
  const key = WIF(network).encode(keys.secp256k1(pathOf(chain)).privateKey);
  const ours = await node.rpc<{ hex: string }>('signrawtransactionwithkey', unsigned, [key]);
  return (await node.rpc<{ hex: string }>('signrawtransactionwithwallet', ours.hex)).hex;
}

/** Signs a transaction of a hot wallet, and sends it. */
export async function evmByHand(
  anvil: Anvil,
  { hot, keys, chain }: { readonly hot: string; readonly keys: SignerKeys; readonly chain: string },
  changes: Pick<EvmTx, 'to'> & Partial<EvmTx>,
): Promise<{ txid: string; tx: EvmTx }> {
  const tx: EvmTx = {
    chainId: anvil.chainId,
    nonce: Number(await anvil.rpc<string>('eth_getTransactionCount', hot, 'pending')),
    maxPriorityFeePerGas: 10n ** 9n,
    maxFeePerGas: 100n * 10n ** 9n,
    gas: 200_000n,
    value: 0n,
    data: '0x',
    ...changes,
  };
  const { txid, raw } = signEvmTx(tx, keys.secp256k1(pathOf(chain)).privateKey);
  const told = await anvil.rpc<string>('eth_sendRawTransaction', raw);
  if (told !== txid) throw new Error(`the node calls it ${told}`);
  return { txid, tx };
}

function pathOf(chain: string): string {
  const network = networkOfChain(chain);
  if (!network) throw new Error(`there is no network on ${chain}`);
  return hotWalletPath(network);
}
