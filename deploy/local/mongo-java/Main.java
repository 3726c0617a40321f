import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.util.List;
import java.util.Set;

/**
 * A server of the MongoDB wire protocol for one host: {@code java Main PORT FILE}. Two things are put right on the way:
 * a write is answered when it is in the file, and the answer to an insert counts what was inserted.
 */
final class Main {
    private static final Set<String> WRITES = Set.of(
        "insert", "update", "delete", "findAndModify", "create", "createIndexes",
        "drop", "dropDatabase", "dropIndexes", "renameCollection");

    public static void main(String[] args) {
        var backend = new DurableBackend(args[1]);
        var server = new MongoServer(backend.version(new Version()));
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        server.bind("127.0.0.1", Integer.parseInt(args[0]));
        System.out.println("listening");
    }

    /** What drivers of today ask for; the server knows itself as 5.0 at most. */
    private record Version() implements MongoVersion {
        @Override
        public List<Integer> getVersionArray() {
            return List.of(7, 0, 0);
        }

        @Override
        public int getWireVersion() {
            return 21;
        }
    }

    private static final class DurableBackend extends H2Backend {
        DurableBackend(String file) {
            super(file);
        }

        @Override
        public Document handleMessage(MongoMessage message) {
            var answer = super.handleMessage(message);
            var command = message.getDocument().keySet().iterator().next();
            if (!WRITES.contains(command)) return answer;
            // By itself it does so once a second, and a kill loses what was acknowledged since.
            commit();
            return command.equals("insert") ? withTrueCount(message.getDocument(), answer) : answer;
        }

        /** An unordered insert goes on after a refused document, an ordered one ends there. */
        private static Document withTrueCount(Document insert, Document answer) {
            if (!(answer.get("writeErrors") instanceof List<?> refused) || refused.isEmpty()) return answer;
            var isOrdered = !Boolean.FALSE.equals(insert.get("ordered"));
            var first = (Document) refused.get(0);
            var asked = ((List<?>) insert.get("documents")).size();
            var inserted = isOrdered ? ((Number) first.get("index")).intValue() : asked - refused.size();
            answer.put("n", inserted);
            return answer;
        }
    }
}
