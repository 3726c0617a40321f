/** The bare relay: answers at once, stores nothing, calls the destination. `node relay.ts <port>` */
import { serve } from "./accept.ts";
import { deliver } from "./deliver.ts";

serve(Number(process.argv[2]), ({ delivery }, answer) => {
  answer();
  deliver(delivery, (outcome) => {
    if (outcome !== 200) console.error("relay: a delivery failed", outcome);
  });
});
