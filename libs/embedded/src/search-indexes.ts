/** The SearchIndexes port: a row for each index, as JSON, in the order of age. */
import { type DatabaseSync } from "node:sqlite";
import { type SearchIndex, type SearchIndexes } from "@posthaste/ports";
import { erasing } from "./database/erase.ts";
import { type Row, stored, text } from "./database/rows.ts";
import { type Writer } from "./database/writer.ts";

export function openSearchIndexes(db: DatabaseSync, writer: Writer): SearchIndexes {
  const all = db.prepare("SELECT json FROM search_indexes ORDER BY created_at, id");
  const page = db.prepare(`
    SELECT json FROM search_indexes WHERE (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`);
  const find = db.prepare("SELECT json FROM search_indexes WHERE id = ?");
  const add = db.prepare(`
    INSERT INTO search_indexes (id, created_at, json) VALUES (?, ?, ?)
    ON CONFLICT (id) DO NOTHING`);
  const put = db.prepare("UPDATE search_indexes SET json = ? WHERE id = ?");
  const remove = db.prepare("DELETE FROM search_indexes WHERE id = ?");
  const get = (id: string): SearchIndex | undefined => {
    const row = find.get(id);
    return row && indexOf(row);
  };
  return {
    list: () => writer.read(() => all.all().map(indexOf)),
    page: ({ after, limit }) =>
      writer.read(() => page.all(after?.createdAt ?? -1, after?.id ?? "", limit).map(indexOf)),
    get: (id) => writer.read(() => get(id)),
    add: (index) =>
      writer.write(
        () => void add.run(index.id, index.createdAt, JSON.stringify(index)),
        "accepted",
      ),
    change: (id, change) =>
      writer.write(() => {
        const index = get(id);
        if (!index) return undefined;
        const changed = change(index);
        erasing(db, () => put.run(JSON.stringify(changed), id));
        return changed;
      }, "accepted"),
    remove: (id) => writer.write(() => void erasing(db, () => remove.run(id)), "accepted"),
  };
}

const indexOf = (row: Row): SearchIndex => stored<SearchIndex>(text(row["json"]));
