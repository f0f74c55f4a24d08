/** What the address of a page carries after its '?': texts only. */
export type Search = Readonly<Record<string, string | undefined>>;
