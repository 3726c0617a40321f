{{/* What `pods` says, with what a service says of its own pods laid over it: (dict "root" $ "service" its values). In YAML. */}}
{{- define "posthaste.pods" -}}
{{- $pods := deepCopy .root.Values.pods -}}
{{- include "posthaste.lay" (dict "below" $pods "above" (default dict .service.pods)) -}}
{{- toYaml $pods -}}
{{- end -}}

{{/* Lays a map over another, which is changed, key by key; a list, and a null, stand in the place of what was below. */}}
{{- define "posthaste.lay" -}}
{{- range $key, $value := .above -}}
{{- $below := get $.below $key -}}
{{- if and (kindIs "map" $value) (kindIs "map" $below) -}}
{{- include "posthaste.lay" (dict "below" $below "above" $value) -}}
{{- else if kindIs "invalid" $value -}}
{{- $_ := unset $.below $key -}}
{{- else -}}
{{- $_ := set $.below $key $value -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The pods of one service, or of migrate, which run to their end: (dict "root" $ "service" name "reads" subjects). */}}
{{- define "posthaste.pod" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $name := .service -}}
{{- $isAlone := eq $name "standalone" -}}
{{- $isOnce := has "once" .reads -}}
{{- $service := $isOnce | ternary $values.migrate ($isAlone | ternary $values.standalone (get $values.services $name)) -}}
{{- $pods := include "posthaste.pods" (dict "root" $root "service" $service) | fromYaml -}}
{{- $secrets := include "posthaste.secrets" . | fromYaml -}}
{{- $selector := include "posthaste.selector" . -}}
{{- $isCalled := has $name (list "gateway" "management" "standalone") -}}
metadata:
  labels:
    {{- $selector | nindent 4 }}
    {{- with $pods.labels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    {{- if not $isOnce }}
    # Secrets are read at the start: where one has changed the pod is replaced.
    checksum/secrets: {{ include "posthaste.checksum" (dict "root" $root "secrets" $secrets) }}
    {{- end }}
    {{- with $pods.annotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  {{- if $isOnce }}
  restartPolicy: Never
  {{- end }}
  {{- /* Before an install there is none of the release's own. */}}
  {{- if or (not $isOnce) (not (include "posthaste.makesServiceAccount" $root)) }}
  serviceAccountName: {{ include "posthaste.serviceAccount" $root }}
  {{- end }}
  automountServiceAccountToken: false
  # Else a Service whose name begins with "posthaste" would put unknown POSTHASTE_ variables into the pod.
  enableServiceLinks: false
  # preStop, the drain, and what the process allows itself beyond it, with room.
  terminationGracePeriodSeconds: {{ add $values.drainSeconds 15 }}
  securityContext: {{- toYaml $pods.securityContext | nindent 4 }}
  {{- with $values.imagePullSecrets }}
  imagePullSecrets: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $pods.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $pods.nodeSelector }}
  nodeSelector: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $pods.tolerations }}
  tolerations: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $pods.affinity }}
  affinity: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $pods.topologySpread }}
  topologySpreadConstraints:
    {{- range . }}
    - {{- toYaml . | nindent 6 }}
      labelSelector:
        matchLabels: {{- $selector | nindent 10 }}
    {{- end }}
  {{- end }}
  containers:
    - name: {{ $name }}
      image: {{ include "posthaste.image" $root | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: [services/{{ $name }}/process/main.ts]
      env: {{- include "posthaste.environment" (dict "root" $root "service" $name "reads" .reads "secrets" $secrets) | nindent 8 }}
        {{- with $service.extraEnv }}{{ toYaml . | nindent 8 }}{{ end }}
      {{- if not $isOnce }}
      ports:
        - { name: http, containerPort: {{ include "posthaste.port" $name }} }
        {{- if $isAlone }}
        - { name: management, containerPort: {{ include "posthaste.port" "management" }} }
        {{- end }}
        {{- with $values.metricsPort }}
        - { name: metrics, containerPort: {{ . }} }
        {{- end }}
      startupProbe:
        httpGet: { path: /healthz, port: http }
        {{- toYaml $pods.probes.startup | nindent 8 }}
      livenessProbe:
        httpGet: { path: /healthz, port: http }
        {{- toYaml $pods.probes.liveness | nindent 8 }}
      readinessProbe:
        httpGet: { path: /readyz, port: http }
        {{- toYaml $pods.probes.readiness | nindent 8 }}
      {{- if $isCalled }}
      # Requests go on arriving until every node has heard that the pod is leaving.
      lifecycle:
        preStop:
          sleep: { seconds: 5 }
      {{- end }}
      {{- end }}
      resources: {{- toYaml $service.resources | nindent 8 }}
      securityContext: {{- toYaml $pods.containerSecurityContext | nindent 8 }}
      volumeMounts:
        - { name: secrets, mountPath: /run/secrets/posthaste, readOnly: true }
        - { name: tmp, mountPath: /tmp }
        {{- if $isAlone }}
        - { name: data, mountPath: {{ include "posthaste.dataFolder" . }} }
        {{- end }}
        {{- with $service.extraVolumeMounts }}{{ toYaml . | nindent 8 }}{{ end }}
  volumes:
    - name: secrets
      projected:
        defaultMode: 0440
        sources:
          {{- range $file, $from := $secrets }}
          - {{ default "Secret" $from.kind | untitle }}:
              name: {{ $from.name }}
              items: [{ key: {{ $from.key | quote }}, path: {{ $file }} }]
          {{- end }}
    - name: tmp
      emptyDir: { sizeLimit: 16Mi }
    {{- with $service.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end -}}
