/** A query that the playground opens in a tab named after its operation. */
interface ExampleQuery {
  readonly query: string;
  /** Variables as JSON. */
  readonly variables?: string;
}

interface Period {
  readonly from: string;
  readonly to: string;
}

const examples: readonly {
  readonly query: string;
  readonly variables?: (lastMonth: Period) => Record<string, unknown> | Period;
}[] = [
  {
    query: `# Everything that needs attention of staff, oldest first. Run it with Ctrl+Enter.
# The book icon on the left shows the documentation of every field.
query Attention {
  attention(limit: 50) {
    kind
    since
    detail
    order {
      shortId
      status
      partner { name }
    }
  }
}
`,
  },
  {
    query: `# Orders, newest first. Next page: give pageInfo.endCursor as after.
# filter: { search: "..." } takes the beginning of an id, a transaction hash or an address.
query Orders($first: Int = 20, $after: String, $filter: OrderFilter) {
  orders(first: $first, after: $after, filter: $filter) {
    count { value isExact }
    edges {
      node {
        id
        shortId
        status
        createdAt
        amountFromExpected
        coinFrom
        amountToExpected
        coinTo
        partner { name }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}
`,
    variables: () => ({ first: 20, filter: {} }),
  },
  {
    query: `# The newest order with its whole history. For another order: order(id: "XP-...").
query OrderStory {
  orders(first: 1) {
    edges {
      node {
        id
        shortId
        status
        hold { since reason }
        terms { rate feeRate serviceFee networkFee minAmount maxAmount }
        depositAddress
        recipientAddress
        events { seq at fromStatus toStatus cause actor detail }
        deposits { txid amount coin state height problem }
        trade { state amountFrom amountTo bought problem }
        payments {
          kind
          leg
          amount
          coin
          address
          state
          problem
          attempts { attempt txid sentAt minedHeight deadWhy }
        }
        notes { at text author { email } }
      }
    }
  }
}
`,
  },
  {
    query: `# The last 30 days: counts, volume, revenue, time in each status, and why orders failed.
query Month($from: DateTime!, $to: DateTime!) {
  stats(from: $from, to: $to, interval: DAY) {
    series { at created completed expired refunded failed conversion volumeUsd revenueUsd }
    timeInState { status count meanSeconds }
    timePercentiles { orders isWhole statuses { status p50Seconds p95Seconds } }
    failures { status cause count }
  }
}
`,
    variables: (lastMonth) => lastMonth,
  },
  {
    query: `# The same, apart for each pair.
query MonthByPair($from: DateTime!, $to: DateTime!) {
  stats(from: $from, to: $to, interval: MONTH, by: PAIR) {
    series { at key created completed conversion volumeUsd revenueUsd }
  }
}
`,
    variables: (lastMonth) => lastMonth,
  },
  {
    query: `# What a partner would be quoted now. Give partnerId for its own pricing.
query Quote($input: QuoteInput!) {
  quote(input: $input) {
    amountFrom
    amountTo
    rate
    feeRate
    serviceFee
    networkFee
    minAmount
    maxAmount
    expiresIn
  }
}
`,
    variables: () => ({
      input: { coinFrom: 'BTC', coinTo: 'USDT', networkTo: 'TRC20', amount: '0.01', rateType: 'FIXED' },
    }),
  },
  {
    query: `# Partners, what they pay, and their last 30 days.
query Partners {
  partners {
    id
    name
    status
    pricing { float fixed }
    rateLimitPerMin
    ordersLimitPerMin
    maxOpenOrders
    maxFixedExposureUsd
    maxFixedDayUsd
    maxFloatExposureUsd
    fixedResults { day { orders sentUsd adverseBps lossUsd } month { orders sentUsd adverseBps lossUsd } }
    usage { at created completed volumeUsd }
  }
}
`,
  },
  {
    query: `# What partners earned in a month, and why it is not paid yet. Only what is due: state: [PAYABLE].
query Commission($month: String!) {
  commissions(month: $month) {
    edges {
      node {
        partner { name }
        state
        coin
        network
        due
        problem
        heldAt
        payment { state problem attempts { txid } }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
  commissionMonths { month coin network accrued paid }
}
`,
    variables: ({ from }) => ({ month: from.slice(0, 7) }),
  },
  {
    query: `# The catalogue, and prices that are set by hand.
query Catalogue {
  currencies {
    coin
    network
    isActive
    isDepositEnabled
    isWithdrawEnabled
    minAmount
    maxAmount
    networkFee
    minConfirmations
  }
  priceOverrides { coinFrom coinTo price endsAt setBy { email } }
}
`,
  },
  {
    query: `# Chains, workers, queues, statistics and prices.
query System {
  system {
    chains { chain head height lag problem scannedAt }
    workers { id seenAt }
    queues { name waiting oldestSec }
    overdueOrders
    statistics { eventsBehind rolledAt }
    reconciliation { endedAt checks differences }
    prices { coin ageSec }
  }
}
`,
  },
  {
    query: `# Every move of every order, as it happens. Stop it with the same button.
subscription Live {
  orderChanged {
    at
    fromStatus
    toStatus
    cause
    order { shortId coinFrom coinTo partner { name } }
  }
}
`,
  },
  {
    query: `# Who am I, and what may I do?
query Me {
  me { email role permissions }
}
`,
  },
];

/** Frequent questions of staff. Each query runs unchanged, and every member may send it. */
export function exampleQueries(now: Date): readonly ExampleQuery[] {
  const monthAgo = new Date(now.getTime() - 30 * 86_400_000);
  const lastMonth = { from: monthAgo.toISOString(), to: now.toISOString() };
  return examples.map(({ query, variables }) => ({
    query,
    ...(variables ? { variables: JSON.stringify(variables(lastMonth), null, 2) } : {}),
  }));
}
