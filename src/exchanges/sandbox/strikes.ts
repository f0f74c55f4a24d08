import type { ExchangeState, ImitatedMovement } from './exchange-state.ts';
import type { VenueFault } from './venue-faults.ts';

/** How many lists tell a late txid, or a replaced one, wrongly. */
const lists = 3;

/** Whether a fault strikes now. It then strikes once less. */
export function strike(state: ExchangeState, fault: VenueFault): boolean {
  const left = state.strikes[fault] ?? 0;
  if (left <= 0) return false;
  if (left === 1) delete state.strikes[fault];
  else state.strikes[fault] = left - 1;
  return true;
}

/** Sets how many times a fault strikes; 0 lifts it, from the movements that it holds as well. */
export function setFault(state: ExchangeState, fault: VenueFault, times: number): void {
  if (times > 0) {
    state.strikes[fault] = times;
    return;
  }
  delete state.strikes[fault];
  for (const row of state.movements) {
    if (row.fault === fault && (row.state === 'pending' || row.state === 'locked')) delete row.fault;
  }
}

/** The txid that a list shows. */
export function toldTxid({ fault, txid, payment, shown = 0 }: ImitatedMovement): string | null {
  const isLate = shown > lists;
  if (fault === 'txid_late') return isLate ? txid : null;
  return fault === 'replace' && isLate && payment ? payment.txid : txid;
}
