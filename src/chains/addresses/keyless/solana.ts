import { burnReason, type KeylessAccounts, systemReason } from './keyless-accounts.ts';

// An account that is no point of the curve needs no row: the codec refuses it.

export const solanaKeyless: readonly KeylessAccounts[] = [
  {
    reason: systemReason,
    source: 'https://docs.anza.xyz/runtime/programs',
    accounts: [
      '11111111111111111111111111111111',
      'AddressLookupTab1e1111111111111111111111111',
      'BPFLoader1111111111111111111111111111111111',
      'BPFLoader2111111111111111111111111111111111',
      'BPFLoaderUpgradeab1e11111111111111111111111',
      'ComputeBudget111111111111111111111111111111',
      'Config1111111111111111111111111111111111111',
      'Ed25519SigVerify111111111111111111111111111',
      'Feature111111111111111111111111111111111111',
      'KeccakSecp256k11111111111111111111111111111',
      'LoaderV411111111111111111111111111111111111',
      'NativeLoader1111111111111111111111111111111',
      'Secp256r1SigVerify1111111111111111111111111',
      'Stake11111111111111111111111111111111111111',
      'StakeConfig11111111111111111111111111111111',
      'Vote111111111111111111111111111111111111111',
      'ZkE1Gama1Proof11111111111111111111111111111',
      'ZkTokenProof1111111111111111111111111111111',
    ],
  },
  {
    reason: systemReason,
    source: 'https://docs.anza.xyz/runtime/sysvars',
    accounts: [
      'Sysvar1111111111111111111111111111111111111',
      'Sysvar1nstructions1111111111111111111111111',
      'SysvarC1ock11111111111111111111111111111111',
      'SysvarEpochRewards1111111111111111111111111',
      'SysvarEpochSchedu1e111111111111111111111111',
      'SysvarFees111111111111111111111111111111111',
      'SysvarLastRestartS1ot1111111111111111111111',
      'SysvarRecentB1ockHashes11111111111111111111',
      'SysvarRent111111111111111111111111111111111',
      'SysvarRewards111111111111111111111111111111',
      'SysvarS1otHashes111111111111111111111111111',
      'SysvarS1otHistory11111111111111111111111111',
      'SysvarStakeHistory1111111111111111111111111',
    ],
  },
  {
    // The programs of tokens, of their accounts and of memos, and the mints of wrapped SOL.
    reason: systemReason,
    source: 'https://spl.solana.com',
    accounts: [
      'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
      'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo',
      'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
      'So11111111111111111111111111111111111111112',
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
      '9pan9bMn5HatX4EJdBwg9VgCa7Uz5HL8N1m5D3NdXej9',
    ],
  },
  {
    reason: burnReason,
    source: 'https://docs.anza.xyz/implemented-proposals/rent',
    accounts: ['1nc1nerator11111111111111111111111111111111'],
  },
];
