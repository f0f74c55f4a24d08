import { isObject } from '../xrp-node/json.ts';
import { invalidParams, nodeUnhealthy, RpcError } from './errors.ts';
import type { Text58 } from './keys.ts';
import {
  accountFormOf,
  addressAt,
  addressesAt,
  addressOf,
  commitmentOf,
  configAt,
  listAt,
  minContextSlotOf,
  type Params,
  required,
  transactionFormOf,
  wholeNumber,
} from './params.ts';
import { getFeeForMessage, sendTransaction, simulateTransaction } from './sending.ts';
import { accountJson, inContext, transactionJson, version } from './shown.ts';
import { blockhashAge, type SolanaBlock } from './slots.ts';
import { decimalsOf, tokenAccountOf } from './tokens.ts';
import { feeOf } from './transaction.ts';
import type { View } from './view.ts';

type Answer = (view: View, params: Params) => unknown;

/** The block that a question with settings is about. */
function bankOf(view: View, params: Params, index: number): SolanaBlock {
  const config = configAt(params, index);
  return view.bank(commitmentOf(config), minContextSlotOf(config));
}

const getSlot: Answer = (view, params) => bankOf(view, params, 0).slot;

const getBlockHeight: Answer = (view, params) => bankOf(view, params, 0).height + (view.faults.addedHeight ?? 0);

const getBlocks: Answer = (view, params) => {
  const start = wholeNumber(required(params, 0));
  const hasEnd = typeof params[1] === 'number';
  commitmentOf(configAt(params, hasEnd || params[1] === null ? 2 : 1), 'confirmed');
  const end = hasEnd ? wholeNumber(params[1]) : view.bank('finalized').slot;
  if (end - start > 500_000) throw invalidParams('Slot range too large; max 500000');
  return view.slots(start, end);
};

const getBlocksWithLimit: Answer = (view, params) => {
  const [start, limit] = [wholeNumber(required(params, 0)), wholeNumber(required(params, 1))];
  commitmentOf(configAt(params, 2), 'confirmed');
  if (limit > 500_000) throw invalidParams('Limit too large; max 500000');
  return view.slots(start, Number.MAX_SAFE_INTEGER).slice(0, limit);
};

const getBlock: Answer = (view, params) => {
  const slot = wholeNumber(required(params, 0));
  const config = configAt(params, 1);
  commitmentOf(config, 'confirmed');
  const form = transactionFormOf(config);
  const block = view.block(slot);
  if (!block) return null;
  return { ...view.blockJson(block, form), ...(config.rewards === false ? {} : { rewards: [] }) };
};

const getTransaction: Answer = (view, params) => {
  const config = configAt(params, 1);
  commitmentOf(config, 'confirmed');
  const form = transactionFormOf({ ...config, transactionDetails: 'full' });
  const found = view.find(String(required(params, 0)));
  if (!found || found.block.slot > view.bank('finalized').slot) return null;
  const { slot, timeMs, transactions } = found.block;
  const transactionIndex = transactions.indexOf(found.applied);
  const blockTime = Math.floor(timeMs / 1_000);
  return { blockTime, slot, transactionIndex, ...transactionJson(found.applied, form) };
};

const getLatestBlockhash: Answer = (view, params) => {
  const bank = bankOf(view, params, 0);
  return inContext(bank, { blockhash: bank.hash, lastValidBlockHeight: bank.height + blockhashAge });
};

const isBlockhashValid: Answer = (view, params) => {
  const bank = bankOf(view, params, 1);
  const height = view.chain.heightOf(addressAt(params, 0));
  return inContext(bank, height !== null && height <= bank.height && bank.height - height <= blockhashAge);
};

const getSignatureStatuses: Answer = (view, params) => {
  const ids = listAt(params, 0, 256).map(String);
  const history = configAt(params, 1).searchTransactionHistory === true;
  if (history && view.faults.noHistory === 'error') {
    throw new RpcError('historyNotAvailable', 'Transaction history is not available from this node');
  }
  const statuses = ids.map((id) => {
    const found = view.find(id, { history });
    return found ? view.statusJson(found) : null;
  });
  return inContext(view.bank('processed'), statuses);
};

const getAccountInfo: Answer = (view, params) => {
  const [address, bank] = [addressAt(params, 0), bankOf(view, params, 1)];
  return inContext(bank, accountsJson(view, params, [address], bank)[0] ?? null);
};

const getMultipleAccounts: Answer = (view, params) => {
  const [addresses, bank] = [addressesAt(params, 0, 100), bankOf(view, params, 1)];
  const shown = accountsJson(view, params, addresses, bank);
  return inContext(bank, view.faults.accounts === 'more' ? [...shown, ...shown.slice(-1)] : shown);
};

function accountsJson(view: View, params: Params, addresses: readonly Text58[], bank: SolanaBlock) {
  const form = accountFormOf(configAt(params, 1));
  const find = (address: Text58) => view.account(address, bank);
  return addresses.map((address) => accountJson(find(address), form, find));
}

const getBalance: Answer = (view, params) => {
  const [address, bank] = [addressAt(params, 0), bankOf(view, params, 1)];
  return inContext(bank, view.account(address, bank)?.lamports ?? 0n);
};

const getTokenAccountsByOwner: Answer = (view, params) => {
  const owner = addressAt(params, 0);
  const filter = required(params, 1);
  const [bank, form] = [bankOf(view, params, 2), accountFormOf(configAt(params, 2))];
  if (!isObject(filter)) throw invalidParams('Invalid params: invalid type, expected an object.');
  const [mint, programId] = [filter.mint, filter.programId].map((one) => (one === undefined ? null : addressOf(one)));
  const find = (address: Text58) => view.account(address, bank);
  const mintAccount = mint ? find(mint) : null;
  if (mint && (!mintAccount || decimalsOf(mintAccount) === null)) {
    throw invalidParams('Invalid param: could not find mint');
  }
  const listed = view.chain.vm.tokenAccountsOf(owner, bank.slot).flatMap((pubkey) => {
    const account = find(pubkey);
    const isAsked =
      account && (mint ? tokenAccountOf(account)?.mint === mint : programId === null || account.owner === programId);
    return isAsked ? [{ account: accountJson(account, form, find), pubkey }] : [];
  });
  return inContext(bank, view.faults.accounts === 'more' ? [...listed, ...listed.slice(-1)] : listed);
};

const getMinimumBalanceForRentExemption: Answer = (view, params) => {
  commitmentOf(configAt(params, 1));
  return view.chain.vm.minimum(wholeNumber(required(params, 0)));
};

/** The least priority fee of each of the newest blocks, in millionths of a lamport a unit. */
const getRecentPrioritizationFees: Answer = (view, params) => {
  if (params[0] !== undefined) addressesAt(params, 0, 128);
  const { chain } = view;
  const known = chain.blocks.filter(({ slot }) => slot <= view.bank('processed').slot);
  return known.slice(-150).map(({ slot, transactions }) => {
    const fees = transactions.map(({ tx, outcome }) => {
      const priority = outcome.fee - feeOf({ ...tx, instructions: [], config: null }, chain.lamportsPerSignature);
      return outcome.units === 0n ? 0n : (priority * 1_000_000n) / outcome.units;
    });
    return { prioritizationFee: fees.reduce((least, fee) => (fee < least ? fee : least), fees[0] ?? 0n), slot };
  });
};

const getHealth: Answer = (view) => {
  const { unhealthy } = view.faults;
  if (unhealthy === undefined) return 'ok';
  throw nodeUnhealthy(unhealthy);
};

/** Methods by name. https://solana.com/docs/rpc/http */
export const methods: ReadonlyMap<string, Answer> = new Map(
  Object.entries({
    getSlot,
    getBlockHeight,
    getBlocks,
    getBlocksWithLimit,
    getBlock,
    getTransaction,
    getLatestBlockhash,
    isBlockhashValid,
    getSignatureStatuses,
    getAccountInfo,
    getMultipleAccounts,
    getBalance,
    getTokenAccountsByOwner,
    getMinimumBalanceForRentExemption,
    getRecentPrioritizationFees,
    getFeeForMessage,
    getHealth,
    getGenesisHash: (view) => view.genesis,
    getVersion: () => ({ 'feature-set': 3_640_012_085, 'solana-core': version }),
    getFirstAvailableBlock: (view) => view.first,
    sendTransaction,
    simulateTransaction,
  } satisfies Record<string, Answer>),
);
