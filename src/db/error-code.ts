/**
 * The code of an error of Node or of PostgreSQL ('ENOENT', '57P03'). Asks for the member instead of the class, because
 * an error of Node's own, seen from a test's sandbox, is no instance of the sandbox's Error.
 */
export function errorCode(error: unknown): string | undefined {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : undefined;
}

/** A handler of rejections: a file that is not there is undefined, any other error stays one. */
export function ignoreMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}
