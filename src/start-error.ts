/** A start that cannot go on, with what the operator should do. */
export class StartError extends Error {
  override readonly name = 'StartError';
}
