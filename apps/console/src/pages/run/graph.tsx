import {
  Background,
  Controls,
  type Edge,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import "@xyflow/react/dist/base.css";
import { type Run } from "@posthaste/client/api";
import { useEffect } from "react";
import { durationOf, shown } from "../../api/text.ts";
import { State } from "../../parts/text.tsx";
import { errorWordsOf } from "../../rules/attempt-error.ts";
import { type GraphNode, graphOf } from "../../rules/graph.ts";
import { stepStates } from "../states.tsx";

const columnWidth = 230;
const rowHeight = 96;
/** The largest size of a step. A step out of sight is not rendered, so it could not be measured. */
const measured = { width: 176, height: 76 };
/** Smaller steps would be illegible. */
const fitted = { maxZoom: 1, minZoom: 0.5 };

type StepNode = Node<{ readonly node: GraphNode; readonly choose: (key: string) => void }, "step">;

type Props = {
  readonly run: Run;
  readonly chosen: string | undefined;
  readonly choose: (key: string) => void;
};

const nodeTypes = { step: StepNodeView };

export function RunGraph({ run, chosen, choose }: Props) {
  const graph = graphOf(run, Date.now());
  const nodes = graph.nodes.map((node): StepNode => ({
    id: node.id,
    type: "step",
    position: { x: node.column * columnWidth, y: node.place * rowHeight },
    measured,
    data: { node, choose },
    selected: node.id === chosen,
    draggable: false,
    focusable: false,
  }));
  const edges = graph.edges.map(([source, target]): Edge => ({
    id: `${source}-${target}`,
    source,
    target,
    focusable: false,
  }));
  return (
    <section className="panel graph" aria-label="Graph of the run">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        nodesConnectable={false}
        edgesFocusable={false}
        onlyRenderVisibleElements
        fitView
        fitViewOptions={fitted}
        minZoom={0.1}
      >
        <Fitted columns={graph.columns} chosen={chosen} />
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </section>
  );
}

type FittedProps = { readonly columns: number; readonly chosen: string | undefined };

/**
 * Fits the graph again when its box changes width, as for the panel of a step. A graph too long for the box keeps the chosen
 * step in it.
 */
function Fitted({ columns, chosen }: FittedProps) {
  const { fitView } = useReactFlow();
  const width = useStore((flow) => flow.width);
  const isWhole = columns * columnWidth * fitted.minZoom <= width;
  const kept = isWhole ? undefined : chosen;
  useEffect(() => {
    void fitView({ ...fitted, ...(kept !== undefined && { nodes: [{ id: kept }] }) });
  }, [fitView, width, kept]);
  return null;
}

function StepNodeView({ data: { node, choose } }: NodeProps<StepNode>) {
  const { row, left } = node;
  return (
    <>
      <Handle type="target" position={Position.Left} isConnectable={false} />
      {row === undefined ? (
        <div className="graph-node">{left} more steps</div>
      ) : (
        <button
          type="button"
          className={`graph-node nodrag ${stepStates[row.state][0]}`}
          onClick={() => choose(row.key)}
        >
          <span className="name">{shown(row.name, 60)}</span>
          <span className="line">
            <State tone={stepStates[row.state][0]}>{stepStates[row.state][1]}</State>{" "}
            <span className="muted">{durationOf(row.to - row.from)}</span>
          </span>
          {row.lastError !== undefined && (
            <span className="why">{shown(errorWordsOf(row.lastError), 60)}</span>
          )}
        </button>
      )}
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </>
  );
}
