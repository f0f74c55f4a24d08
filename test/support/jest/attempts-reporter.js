import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Says at the end of a run how many attacks its files tried, as attempts.ts counted them. */
export default class AttemptsReporter {
  onRunComplete() {
    const file = join(process.env.TEST_DATA_DIR ?? '', 'attempts');
    if (!existsSync(file)) return;
    const rows = readFileSync(file, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' ').map(Number));
    const sum = (column) => rows.reduce((total, row) => total + row[column], 0);
    process.stderr.write(`\nattacks: ${sum(0)} tried, ${sum(1)} refused\n`);
  }
}
