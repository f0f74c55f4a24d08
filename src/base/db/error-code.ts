/**
 * The code of an error of Node or of PostgreSQL ('ENOENT', '57P03'). It reads the member and does
 * not check the class. In a test's sandbox, Node's own error is no instance of the sandbox's Error.
 */
export function errorCode(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined;
}

/** Handles a rejection: a missing file becomes undefined, any other error is thrown again. */
export function ignoreMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}
