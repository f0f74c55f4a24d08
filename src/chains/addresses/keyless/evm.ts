import { burnReason, type KeylessAccounts, systemReason } from './keyless-accounts.ts';

export const evmKeyless: readonly KeylessAccounts[] = [
  {
    // Zero, the precompiled contracts, the system contracts of BSC and Polygon, and 0x…dEaD.
    reason: burnReason,
    source: 'https://eips.ethereum.org/EIPS/eip-1352',
    pattern: /^0x0{36}[0-9a-f]{4}$/,
  },
  {
    reason: burnReason,
    source: 'https://etherscan.io/accounts/label/burn',
    pattern: /^0x(dead0{36}|dead0{16}42069420694206942069|(dead){10}|f{40})$/,
  },
  {
    // 'Ether itself', where a contract expects the address of a token.
    reason: burnReason,
    source: 'https://eips.ethereum.org/EIPS/eip-7528',
    pattern: /^0xe{40}$/,
  },
  {
    // The deposit contract of Ethereum's beacon chain.
    reason: systemReason,
    source: 'https://eips.ethereum.org/EIPS/eip-6110',
    accounts: ['0x00000000219ab540356cBB839Cbe05303d7705Fa'],
  },
  {
    // The sender of system calls, and the contract of the beacon's roots.
    reason: systemReason,
    source: 'https://eips.ethereum.org/EIPS/eip-4788',
    accounts: ['0xffffFFFfFFffffffffffffffFfFFFfffFFFfFFfE', '0x000F3df6D732807Ef1319fB7B8bB8522d0Beac02'],
  },
  {
    reason: systemReason,
    source: 'https://eips.ethereum.org/EIPS/eip-2935',
    accounts: ['0x0000F90827F1C53a10cb7A02335B175320002935'],
  },
  {
    reason: systemReason,
    source: 'https://eips.ethereum.org/EIPS/eip-7002',
    accounts: ['0x00000961Ef480Eb55e80D19ad83579A64c007002'],
  },
  {
    reason: systemReason,
    source: 'https://eips.ethereum.org/EIPS/eip-7251',
    accounts: ['0x0000BBdDc7CE488642fb579F8B00f3a590007251'],
  },
  {
    // Contracts that Optimism and Base begin with, and the depositors of their system transactions.
    reason: systemReason,
    source: 'https://specs.optimism.io/protocol/predeploys.html',
    pattern: /^0x(420{35}[0-9a-f]{3}|(dead){9}000[12])$/,
  },
  {
    // The ranges of Avalanche's precompiled contracts; the first account of them burns fees.
    reason: systemReason,
    source: 'https://github.com/ava-labs/subnet-evm/blob/master/precompile/modules/registerer.go',
    pattern: /^0x0[1-3]0{36}[0-9a-f]{2}$/,
  },
];
