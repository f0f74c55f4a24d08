import { xdr } from '@stellar/stellar-base';
import { type AssetText, contractOf, native } from './assets.ts';
import { credit, debit } from './balances.ts';
import { accountKey, keyXdr, newAccount, trustKey } from './entries.ts';
import { accountAddress, contractAddress, int128 } from './events.ts';
import { int64, type StellarKey, sha256 } from './keys.ts';
import type { StellarLedgers } from './ledgers.ts';
import { operations } from './operations.ts';
import { failure, strictReceive, strictSend, success } from './payments.ts';
import type { Waiting } from './pool.ts';
import { type Draft, type Memo, memoXdr, type StellarTransaction, signTransaction } from './transaction.ts';

/** Ways to get coins or tokens that are no payment. */
export type Unusual = 'account_merge' | 'claimable_balance' | 'create_account' | 'contract';

export interface Credit {
  readonly to: string;
  readonly amount: bigint;
  readonly asset?: AssetText;
  readonly memo?: Memo;
}

/** A transaction that follows on all of the account that wait, with the base fee unless told. */
export function signNext(chain: StellarLedgers, key: StellarKey, draft: Draft): StellarTransaction {
  const count = BigInt(Math.max(draft.operations.length, 1));
  const resourceFee = draft.soroban?.resourceFee().toBigInt() ?? 0n;
  const { fee = chain.fees.baseFee * count + resourceFee } = draft;
  const { seqNum = chain.pool.nextSeqNum(key.address) } = draft;
  return signTransaction(key, { ...draft, fee, seqNum }, chain.passphrase);
}

/** A payment that a ledger holds with a code that it would not get by itself. */
export function failedPayment(chain: StellarLedgers, key: StellarKey, draft: Draft, code: string): Waiting {
  return { tx: signNext(chain, key, draft), act: () => failure(code) };
}

/** What a path payment sends, and what it brings. */
export interface Trade {
  readonly to: string;
  readonly sent: { readonly asset: AssetText; readonly amount: bigint };
  readonly arrived: { readonly asset: AssetText; readonly amount: bigint };
  readonly strict: 'send' | 'receive';
  readonly memo: Memo;
}

/**
 * A path payment at the rate that its two amounts make. The limit that it states is far from what
 * happens: 1 stroop at least, or ten times as much at most.
 */
export function trade(chain: StellarLedgers, payer: StellarKey, { to, sent, arrived, strict, memo }: Trade): Waiting {
  const operation =
    strict === 'send'
      ? operations.pathPaymentStrictSend(to, sent, { asset: arrived.asset, min: 1n })
      : operations.pathPaymentStrictReceive(to, { asset: sent.asset, max: sent.amount * 10n }, arrived);
  const tx = signNext(chain, payer, { operations: [operation], memo });
  const rates = new Map([[`${sent.asset} ${arrived.asset}`, { sent: sent.amount, arrived: arrived.amount }]]);
  return {
    tx,
    act: (site) => {
      const traded = { ...site, rates };
      const mark = memoXdr(memo);
      return strict === 'send'
        ? strictSend(operation.body().pathPaymentStrictSendOp(), payer.address, traded, mark)
        : strictReceive(operation.body().pathPaymentStrictReceiveOp(), payer.address, traded, mark);
    },
  };
}

/** Coins or tokens without a payment. An account that is merged is the leaver. */
export function unusualCredit(
  chain: StellarLedgers,
  kind: Unusual,
  { to, amount, asset = native, memo = null }: Credit,
  leaver: StellarKey,
): Waiting {
  const { bank } = chain;
  const signed = (one: xdr.Operation, more: Partial<Draft> = {}): Waiting => ({
    tx: signNext(chain, bank, { operations: [one], memo, ...more }),
  });
  switch (kind) {
    case 'account_merge':
      return signed(operations.accountMerge(to, leaver.address), { signers: [leaver] });
    case 'claimable_balance':
      return signed(operations.createClaimableBalance([to], amount, asset));
    case 'create_account':
      return signed(operations.createAccount(to, amount));
    case 'contract':
      return invocation(chain, { to, amount, asset, memo });
  }
}

const resourceFee = 50_000n;

/**
 * A contract that pays: the invocation names another contract, and only metadata and events tell
 * what moved. The coins come from the bank. A memo is in the event alone.
 */
function invocation(chain: StellarLedgers, { to, amount, asset = native, memo = null }: Credit): Waiting {
  const contract = sha256(Buffer.from(`contract of ${chain.passphrase}`));
  const args = [xdr.ScVal.scvAddress(accountAddress(to)), int128(amount)];
  const contractArgs = new xdr.InvokeContractArgs({
    contractAddress: contractAddress(contract),
    functionName: 'harvest',
    args,
  });
  const hostFunction = xdr.HostFunction.hostFunctionTypeInvokeContract(contractArgs);
  const op = new xdr.InvokeHostFunctionOp({ hostFunction, auth: [] });
  const operation = new xdr.Operation({ sourceAccount: null, body: xdr.OperationBody.invokeHostFunction(op) });
  const soroban = sorobanData(chain, to, asset);
  const tx = signNext(chain, chain.bank, { operations: [operation], soroban });
  return {
    tx,
    act: (site) => {
      const why = credit(site, to, asset, amount) ?? debit(site, site.bank, asset, amount);
      if (why !== null) return failure('invokeHostFunctionTrapped');
      const from = contractAddress(contract);
      const movement = { asset, amount, from, to, mark: memoXdr(memo) };
      return success('invokeHostFunctionSuccess', [movement], sha256(Buffer.from('nothing')));
    },
  };
}

function sorobanData(chain: StellarLedgers, to: string, asset: AssetText): xdr.SorobanTransactionData {
  const { state } = chain.head;
  const entries = [state.entry(accountKey(to)), state.entry(trustKey(to, asset))].filter((one) => one !== null);
  const code = new xdr.LedgerKeyContractCode({ hash: sha256(contractOf(asset, chain.passphrase)) });
  const footprint = new xdr.LedgerFootprint({
    readOnly: [xdr.LedgerKey.contractCode(code)],
    readWrite: entries.map(keyXdr),
  });
  return new xdr.SorobanTransactionData({
    ext: new xdr.SorobanTransactionDataExt(0),
    resources: new xdr.SorobanResources({ footprint, instructions: 1_000_000, diskReadBytes: 1_000, writeBytes: 500 }),
    resourceFee: int64(resourceFee),
  });
}

/** Gives an account coins of the bank without a transaction, and makes it when there is none. */
export function openAccount(chain: StellarLedgers, address: string, stroops: bigint): void {
  chain.change((state, seq) => {
    const account = state.account(address);
    const bank = state.existing(chain.bank.address);
    state.update(bank.address, { balance: bank.balance - stroops }, seq);
    state.put(
      account
        ? { ...account, balance: account.balance + stroops, lastModified: seq }
        : newAccount(address, stroops, seq),
    );
  });
}
