/** Collects the faults of a node, as the ends of sentences about it. */
export interface NodeNotes {
  readonly faults: string[];
  readonly troubles: string[];
  /** Records the failure of a question, so that the next one is asked all the same. */
  patiently(question: () => Promise<unknown>): Promise<void>;
}
