import { burnReason, type KeylessAccounts } from './keyless-accounts.ts';

export const tronKeyless: readonly KeylessAccounts[] = [
  {
    // Zero and the precompiled contracts, as on EVM chains.
    reason: burnReason,
    source: 'https://developers.tron.network/docs/tvm',
    pattern: /^0x0{36}[0-9a-f]{4}$/,
  },
  {
    // The 'Blackhole' of the first block.
    reason: burnReason,
    source: 'https://github.com/tronprotocol/java-tron/blob/develop/framework/src/main/resources/config.conf',
    accounts: ['TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy'],
  },
];
