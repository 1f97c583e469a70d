# Prints each key of a job file that Vertex AI does not know at its place, as `line: parent.key`.
# gcloud sends such keys, and the service refuses them only after the image is built and pushed.
#
#     awk -v root=CustomJobSpec -f unknown_keys.awk job.yaml    # or root=HyperparameterTuningJob
#
# Reads YAML in block style, in flow style ({a: b}) and as JSON, but no text over several lines.

function known(parent, keys) { children[parent] = " " keys " " }

BEGIN {
  known("CustomJobSpec", "baseOutputDirectory enableDashboardAccess enableWebAccess experiment" \
    " experimentRun models network persistentResourceId protectedArtifactLocationId" \
    " pscInterfaceConfig reservedIpRanges scheduling serviceAccount tensorboard workerPoolSpecs")
  known("HyperparameterTuningJob", "displayName encryptionSpec labels maxFailedTrialCount" \
    " maxTrialCount parallelTrialCount studySpec trialJobSpec")
  children["trialJobSpec"] = children["CustomJobSpec"]
  known("baseOutputDirectory", "outputUriPrefix")
  known("scheduling", "disableRetries maxWaitDuration restartJobOnWorkerRestart strategy timeout")
  known("workerPoolSpecs", "containerSpec diskSpec lustreMounts machineSpec nfsMounts" \
    " pythonPackageSpec replicaCount")
  known("containerSpec", "args command env imageUri")
  known("pythonPackageSpec", "args env executorImageUri packageUris pythonModule")
  known("env", "name value")
  known("diskSpec", "bootDiskSizeGb bootDiskType")
  known("machineSpec", "acceleratorCount acceleratorType gpuPartitionSize machineType" \
    " reservationAffinity tpuTopology")
  known("reservationAffinity", "key reservationAffinityType values")
  known("lustreMounts", "filesystem instanceIp mountPoint volumeHandle")
  known("nfsMounts", "mountPoint path server")
  known("pscInterfaceConfig", "dnsPeeringConfigs networkAttachment")
  known("dnsPeeringConfigs", "domain targetNetwork targetProject")
  known("encryptionSpec", "kmsKeyName")
  known("studySpec", "algorithm convexAutomatedStoppingSpec decayCurveStoppingSpec" \
    " measurementSelectionType medianAutomatedStoppingSpec metrics observationNoise parameters" \
    " studyStoppingConfig")
  known("metrics", "goal metricId safetyConfig")
  known("safetyConfig", "desiredMinSafeTrialsFraction safetyThreshold")
  known("parameters", "categoricalValueSpec conditionalParameterSpecs discreteValueSpec" \
    " doubleValueSpec integerValueSpec parameterId scaleType")
  children["parameterSpec"] = children["parameters"]
  known("conditionalParameterSpecs", "parameterSpec parentCategoricalValues" \
    " parentDiscreteValues parentIntValues")
  known("parentCategoricalValues", "values")
  known("parentDiscreteValues", "values")
  known("parentIntValues", "values")
  known("categoricalValueSpec", "defaultValue values")
  known("discreteValueSpec", "defaultValue values")
  known("doubleValueSpec", "defaultValue maxValue minValue")
  known("integerValueSpec", "defaultValue maxValue minValue")
  known("convexAutomatedStoppingSpec", "learningRateParameterName maxStepCount" \
    " minMeasurementCount minStepCount updateAllStoppedTrials useElapsedDuration")
  known("decayCurveStoppingSpec", "useElapsedDuration")
  known("medianAutomatedStoppingSpec", "useElapsedDuration")
  known("studyStoppingConfig", "maxDurationNoProgress maxNumTrials maxNumTrialsNoProgress" \
    " maximumRuntimeConstraint minNumTrials minimumRuntimeConstraint shouldStopAsap")
  known("maximumRuntimeConstraint", "endTime maxDuration")
  known("minimumRuntimeConstraint", "endTime maxDuration")
  open = 0
  depth = 0
  name[0] = root
  column[0] = -1
}

function check(parent, key) {
  gsub(/["']/, "", key)
  if (parent != "labels" && index(children[parent], " " key " ") == 0)
    print FNR ": " parent "." key
  return key
}

# Reads a part of a value in flow style. `open` counts its brackets, which may close on a later line.
function read_flow(text,    token) {
  while (match(text, /^[ \t]*("[^"]*"|'[^']*'|:([ \t]|$)|[][{},]|[^][{},"':]+|.)/)) {
    token = substr(text, 1, RLENGTH)
    text = substr(text, RLENGTH + 1)
    gsub(/^[ \t]+|[ \t]+$/, "", token)
    if (token ~ /^[{[]/) {
      open += 1
      flow[open] = last
    } else if (token ~ /^[}\]]/) {
      last = flow[open]
      open -= 1
    } else if (token ~ /^["']|^[A-Za-z_]/) {
      if (text ~ /^[ \t]*:([ \t]|$)/ || (token ~ /^["']/ && text ~ /^[ \t]*:/))
        last = check(flow[open], token)
    } else if (token == ",") {
      last = flow[open]
    }
  }
}

{
  rest = $0
  sub(/(^|[ \t])#.*/, "", rest)
  sub(/\r$/, "", rest)
  if (open > 0) {
    read_flow(rest)
    next
  }
  indent = 0
  while (match(rest, /^( +|-( +|$))/)) {
    indent += RLENGTH
    rest = substr(rest, RLENGTH + 1)
  }
  if (rest == "" || rest == "---") next
  while (column[depth] >= indent) depth -= 1
  last = name[depth]
  if (match(rest, /^["']?[A-Za-z_][A-Za-z0-9_.-]*["']?[ \t]*:([ \t]|$)/)) {
    key = substr(rest, 1, RLENGTH)
    rest = substr(rest, RLENGTH + 1)
    sub(/[ \t]*:[ \t]*$/, "", key)
    last = check(last, key)
    depth += 1
    name[depth] = last
    column[depth] = indent
    sub(/^[ \t]+/, "", rest)
  }
  if (rest ~ /^[{[]/) read_flow(rest)
}
