import { type KeylessAccounts, systemReason } from './keyless-accounts.ts';

export const cosmosKeyless: readonly KeylessAccounts[] = [
  {
    // Bonded and not bonded tokens, fees, distribution, governance, minting and transfers: the
    // first 20 bytes of SHA-256 of each module's name.
    reason: systemReason,
    source: 'https://github.com/cosmos/cosmos-sdk/blob/main/x/auth/types/account.go',
    accounts: [
      'cosmos1fl48vsnmsdzcv85q5d2q4z5ajdha8yu34mf0eh',
      'cosmos1tygms3xhhs3yv487phx3dw4a95jn7t7lpm470r',
      'cosmos17xpfvakm2amg962yls6f84z3kell8c5lserqta',
      'cosmos1jv65s3grqf6v6jl3dp4t6c9t9rk99cd88lyufl',
      'cosmos10d07y265gmmuvt4z0w9aw880jnsr700j6zn9kn',
      'cosmos1m3h30wlvsf8llruxtpukdvsy0km2kum8g38c8q',
      'cosmos1yl6hdjhmkf37639730gffanpzndzdpmhwlkfhr',
    ],
  },
];
