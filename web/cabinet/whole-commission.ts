import { type Answer, call, type PartnerSchemas } from './api.ts';

/** What a partner is owed, its months with the newest first, and where it is paid to. */
export interface WholeCommission {
  readonly balance: Answer<'getCommissionBalance'>;
  readonly months: readonly PartnerSchemas['Statement'][];
  readonly addresses: Answer<'getCommissionAddresses'>;
}

/** The options of a query for useQuery. */
export const wholeCommission = {
  queryKey: ['wholeCommission'] as const,
  queryFn: async ({ signal }: { signal: AbortSignal }): Promise<WholeCommission> => {
    const [balance, { data: months }, addresses] = await Promise.all([
      call('getCommissionBalance', { signal }),
      call('listStatements', { signal }),
      call('getCommissionAddresses', { signal }),
    ]);
    return { balance, months, addresses };
  },
};
