/** A start that failed, with advice for the operator. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
