import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants } from '../../../src/config/constants.ts';

const named = new RegExp(`\\b(?:${Object.keys(constants).join('|')})\\b`, 'g');

function filesBelow(folder: string, ending = ''): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Each name of a constant in the texts of files, with its file. */
function found(files: readonly string[], textsOf = (text: string): readonly string[] => [text]): string[] {
  return files.flatMap((file) =>
    textsOf(readFileSync(file, 'utf8')).flatMap((text) => (text.match(named) ?? []).map((name) => `${file}: ${name}`)),
  );
}

describe('files that set settings', () => {
  it('of Compose, Kubernetes, Prometheus, Grafana and the tools name no constant, as a start refuses it', () => {
    const files = [...filesBelow('deploy'), ...filesBelow('tools', '.js')].filter((file) => !/node_modules/.test(file));
    expect(files).toEqual(expect.arrayContaining(['deploy/kubernetes/base/settings.yaml', 'tools/demo.js']));
    expect(found(['docker-compose.yml', 'Dockerfile', '.env.example', 'package.json', ...files])).toEqual([]);
  });

  it('in guides, as units of systemd, commands and overlays, name no constant', () => {
    const guides = ['README.md', 'networks.example.yaml', ...filesBelow('docs', '.md')];
    const fenced = (text: string): string[] => [...text.matchAll(/^```\n?.*?^```/gms)].map(([block]) => block);
    expect(fenced(readFileSync('docs/install.md', 'utf8')).join()).toContain('EnvironmentFile=');
    const shown = guides.filter((file) => !file.startsWith('docs/adr/'));
    expect(found(shown, fenced)).toEqual([]);
    const assignments = (text: string): string[] => [...text.matchAll(/\b[A-Z][A-Z_]+=/g)].map(([set]) => set);
    expect(found(shown, assignments)).toEqual([]);
  });
});
