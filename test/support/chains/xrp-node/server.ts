import type { XrpFaults } from './faults.ts';
import { humanTime } from './header.ts';
import { xrpOf } from './json.ts';
import type { View } from './view.ts';

const version = '3.4.1';
const publicKey = 'n9MozjnGB3tpULewtTsVtuudg5JqYFyV3QFdAtVLzJaxHcBaxuXD';

/** What both methods about the server say. */
function common(view: View, faults: XrpFaults): Record<string, unknown> {
  const network = view.networkId === null ? {} : { network_id: view.networkId };
  return {
    ...(faults.amendmentBlocked ? { amendment_blocked: true } : {}),
    build_version: version,
    complete_ledgers: view.completeLedgers,
    initial_sync_duration_us: '273518294',
    io_latency_ms: 1,
    jq_trans_overflow: '0',
    ...network,
    peer_disconnects: '1',
    peer_disconnects_resources: '0',
    peers: 21,
    pubkey_node: publicKey,
    server_state: 'full',
    server_state_duration_us: '1230676749',
    time: humanTime(view.head.header.close_time + view.ageSec),
    uptime: 86_400,
    validation_quorum: 28,
  };
}

/** https://xrpl.org/docs/references/http-websocket-apis/public-api-methods/server-info-methods/server_info */
export function serverInfo(view: View, faults: XrpFaults): object {
  const { fees } = view.chain;
  const { hash, header } = view.head;
  return {
    ...common(view, faults),
    hostid: 'TEST',
    last_close: { converge_time_s: 3, proposers: 35 },
    load_factor: 1,
    validated_ledger: {
      age: view.ageSec,
      base_fee_xrp: xrpOf(fees.base),
      hash,
      reserve_base_xrp: xrpOf(fees.reserveBase),
      reserve_inc_xrp: xrpOf(fees.reserveInc),
      seq: header.ledger_index,
    },
  };
}

/** https://xrpl.org/docs/references/http-websocket-apis/public-api-methods/server-info-methods/server_state */
export function serverState(view: View, faults: XrpFaults): object {
  const { fees, openFee } = view.chain;
  const { hash, header } = view.head;
  const level = Number((openFee * 256n) / fees.base);
  return {
    ...common(view, faults),
    last_close: { converge_time: 3_000, proposers: 35 },
    load_base: 256,
    load_factor: level,
    load_factor_fee_escalation: level,
    load_factor_fee_queue: 256,
    load_factor_fee_reference: 256,
    load_factor_server: 256,
    validated_ledger: {
      base_fee: fees.base,
      close_time: header.close_time,
      hash,
      reserve_base: fees.reserveBase,
      reserve_inc: fees.reserveInc,
      seq: header.ledger_index,
    },
  };
}
