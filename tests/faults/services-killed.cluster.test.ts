import { playEach } from "./each-scenario.ts";
import { killed } from "./scenarios/all.ts";

playEach("services that are restarted and killed", killed);
