{{/* The pods of one service: (dict "root" $ "service" name "reads" subjects). */}}
{{- define "posthaste.pod" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $name := .service -}}
{{- $isAlone := eq $name "standalone" -}}
{{- $service := $isAlone | ternary $values.standalone (get $values.services $name) -}}
{{- $pods := $values.pods -}}
{{- $secrets := include "posthaste.secrets" . | fromYaml -}}
{{- $selector := include "posthaste.selector" . -}}
{{- $isCalled := has $name (list "gateway" "management" "standalone") -}}
metadata:
  labels:
    {{- $selector | nindent 4 }}
    {{- with $pods.labels }}{{ toYaml . | nindent 4 }}{{ end }}
  annotations:
    # Secrets are read at the start: a pod of changed addresses is a new pod.
    checksum/stores: {{ list $values.kafka.password $values.redis.url $values.mongodb.uri | toJson | sha256sum }}
    {{- with $pods.annotations }}{{ toYaml . | nindent 4 }}{{ end }}
spec:
  serviceAccountName: {{ include "posthaste.serviceAccount" $root }}
  automountServiceAccountToken: false
  # Else a Service whose name begins with "posthaste" would put unknown POSTHASTE_ variables into the pod.
  enableServiceLinks: false
  # preStop, the drain, and what the process allows itself beyond it, with room.
  terminationGracePeriodSeconds: {{ add $values.drainSeconds 15 }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    seccompProfile: { type: RuntimeDefault }
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
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels: {{- $selector | nindent 10 }}
  containers:
    - name: {{ $name }}
      image: {{ include "posthaste.image" $root | quote }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args: [services/{{ $name }}/process/main.ts]
      env: {{- include "posthaste.environment" (dict "root" $root "service" $name "reads" .reads "secrets" $secrets) | nindent 8 }}
        {{- with $service.extraEnv }}{{ toYaml . | nindent 8 }}{{ end }}
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
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 60
      livenessProbe:
        httpGet: { path: /healthz, port: http }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: http }
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 2
      {{- if $isCalled }}
      # Requests go on arriving until every node has heard that the pod is leaving.
      lifecycle:
        preStop:
          sleep: { seconds: 5 }
      {{- end }}
      resources: {{- toYaml $service.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
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
          - secret:
              name: {{ $from.name }}
              items: [{ key: {{ $from.key | quote }}, path: {{ $file }} }]
          {{- end }}
    - name: tmp
      emptyDir: { sizeLimit: 16Mi }
    {{- with $service.extraVolumes }}{{ toYaml . | nindent 4 }}{{ end }}
{{- end -}}
