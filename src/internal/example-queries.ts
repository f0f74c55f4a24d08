/** A query that the playground opens with, in a tab of its own that bears the operation's name. */
export interface ExampleQuery {
  readonly query: string;
  /** As JSON. */
  readonly variables?: string;
}

/** What staff ask most. Every one runs as it stands. */
export const exampleQueries: readonly ExampleQuery[] = [
  {
    query: `# Who am I, and what may I do? Run it with Ctrl+Enter.
# The book at the left shows the documentation.
query Me {
  me {
    email
    role
    permissions
  }
}
`,
  },
  {
    query: `# The newest orders.
# The next page: give pageInfo.endCursor as after.
query Orders($first: Int = 20, $after: String, $filter: OrderFilter) {
  orders(first: $first, after: $after, filter: $filter) {
    edges {
      node {
        id
        shortId
        status
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
`,
    variables: '{\n  "filter": {}\n}',
  },
];
