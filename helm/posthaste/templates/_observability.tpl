{{/*
What looks at the services: ports, arguments and what is mounted of each, as in docker-compose.yml. `files` are those of
its ConfigMap by their places, `keeps` is where it writes.
*/}}
{{- define "posthaste.observers" -}}
prometheus:
  ports: { http: 9090 }
  args: [--config.file=/etc/prometheus/prometheus.yaml, --storage.tsdb.path=/prometheus, --storage.tsdb.retention.time=7d, --enable-feature=exemplar-storage]
  files: { prometheus.yaml: /etc/prometheus/prometheus.yaml, rules.yaml: /etc/prometheus/rules.yaml }
  keeps: /prometheus
  ready: /-/ready
collector:
  ports: { otlp-http: 4318 }
  args: [--config=/etc/collector.yaml]
  files: { collector.yaml: /etc/collector.yaml }
tempo:
  ports: { http: 3200, otlp-grpc: 4317 }
  args: [-config.file=/etc/tempo.yaml]
  files: { tempo.yaml: /etc/tempo.yaml }
  keeps: /var/tempo
  ready: /ready
grafana:
  ports: { http: 3000 }
  args: []
  files: { datasources.yaml: /etc/grafana/provisioning/datasources/posthaste.yaml, dashboards.yaml: /etc/grafana/provisioning/dashboards/posthaste.yaml }
  keeps: /var/lib/grafana
  ready: /api/health
{{- end -}}

{{/* Which of them may call which, at which port. */}}
{{- define "posthaste.observerCalls" -}}
- { from: collector, to: tempo, port: otlp-grpc }
- { from: grafana, to: prometheus, port: http }
- { from: grafana, to: tempo, port: http }
{{- end -}}

{{/* The Compose file's configuration with the addresses of this release. */}}
{{- define "posthaste.observerFile.prometheus.yaml" -}}
{{- $root := . -}}
{{- $config := .Files.Get "files/compose/prometheus.yaml" | fromYaml -}}
{{- $labels := list (dict "target_label" "namespace" "replacement" .Release.Namespace) (dict "target_label" "release" "replacement" .Release.Name) -}}
{{- $jobs := list -}}
{{- range $name, $_ := include "posthaste.reads" . | fromYaml -}}
{{- $pods := printf "%s-%s-pods" (include "posthaste.fullname" $root) $name -}}
{{- $found := dict "names" (list $pods) "type" "A" "port" (int $root.Values.metricsPort) -}}
{{- $job := dict "job_name" (printf "posthaste-%s" $name) "dns_sd_configs" (list $found) "relabel_configs" $labels -}}
{{- if $root.Values.metricsTokenFrom -}}
{{- $_ := set $job "authorization" (dict "credentials_file" "/run/secrets/metrics/token") -}}
{{- end -}}
{{- $jobs = append $jobs $job -}}
{{- end -}}
{{- set $config "scrape_configs" $jobs | toYaml -}}
{{- end -}}

{{- define "posthaste.observerFile.rules.yaml" -}}
{{- .Files.Get "files/rules.yaml" -}}
{{- end -}}

{{- define "posthaste.observerFile.collector.yaml" -}}
{{- $tempo := printf "%s-tempo:4317" (include "posthaste.fullname" .) -}}
{{- $config := .Files.Get "files/compose/collector.yaml" | fromYaml -}}
{{- $_ := set $config.exporters.otlp "endpoint" $tempo -}}
{{- $config | toYaml -}}
{{- end -}}

{{- define "posthaste.observerFile.tempo.yaml" -}}
{{- .Files.Get "files/compose/tempo.yaml" -}}
{{- end -}}

{{- define "posthaste.observerFile.datasources.yaml" -}}
{{- $fullname := include "posthaste.fullname" . -}}
{{- $config := .Files.Get "files/compose/datasources.yaml" | fromYaml -}}
{{- range $config.datasources -}}
{{- $_ := set . "url" (.url | replace "http://" (printf "http://%s-" $fullname)) -}}
{{- end -}}
{{- $config | toYaml -}}
{{- end -}}

{{- define "posthaste.observerFile.dashboards.yaml" -}}
{{- .Files.Get "files/compose/dashboards.yaml" -}}
{{- end -}}

{{/* Where traces go: to the collector that is named, or to the chart's own; empty: nowhere. */}}
{{- define "posthaste.collector" -}}
{{- if .Values.traces.endpoint -}}
{{ .Values.traces.endpoint }}
{{- else if .Values.observability.enabled -}}
http://{{ include "posthaste.fullname" . }}-collector:4318
{{- end -}}
{{- end -}}

{{/* Which Prometheus KEDA asks, from its own namespace. */}}
{{- define "posthaste.prometheus" -}}
{{- if .Values.keda.prometheus -}}
{{ .Values.keda.prometheus }}
{{- else if .Values.observability.enabled -}}
http://{{ include "posthaste.fullname" . }}-prometheus.{{ .Release.Namespace }}:9090
{{- end -}}
{{- end -}}
