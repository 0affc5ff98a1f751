"""Questions about tf.contrib.slim.nets: names and shapes in the graphs of known nets for pictures.

The nets are large: the answers describe their graphs, which are not run.
"""

import hashlib
import importlib

import tensorflow as tf
from asking import main, numbers, question, signature
from picturing import RESIDUAL, V1, V2, VERSIONS, built, listed, members, pictures, short, small
from tensorflow.contrib.slim import nets
from trying import tried

slim = tf.contrib.slim
inception, resnet_utils = nets.inception, nets.resnet_utils


@question
def names():
    modules = {
        "alexnet": "alexnet_v2 alexnet_v2_arg_scope",
        "overfeat": "overfeat overfeat_arg_scope",
        "vgg": "vgg_a vgg_16 vgg_19 vgg_d vgg_e vgg_arg_scope",
        "inception": "inception_v1 inception_v1_arg_scope inception_v1_base inception_v2 "
        "inception_v2_arg_scope inception_v2_base inception_v3 inception_v3_arg_scope "
        "inception_v3_base",
        "resnet_utils": "Block conv2d_same resnet_arg_scope stack_blocks_dense subsample",
        "resnet_v1": "bottleneck resnet_arg_scope resnet_v1 resnet_v1_50 resnet_v1_101 "
        "resnet_v1_152 resnet_v1_200 resnet_v1_block",
        "resnet_v2": "bottleneck resnet_arg_scope resnet_v2 resnet_v2_50 resnet_v2_101 "
        "resnet_v2_152 resnet_v2_200 resnet_v2_block",
    }
    known = {}
    for module, among in modules.items():
        for name in among.split():
            one = getattr(getattr(nets, module), name)
            known[f"{module}.{name}"] = [
                ", ".join(signature(one)),
                one.__name__,
                str(getattr(one, "default_image_size", None)),
                str(slim.has_arg_scope(one)),
            ]
    return known


@question
def where_modules_are():
    where = {"vgg": "vgg_a", "resnet_v1": "bottleneck", "inception_v2": "inception_v2_base"}
    found = []
    for module, name in where.items():
        inside = importlib.import_module("tensorflow.contrib.slim.python.slim.nets." + module)
        public = getattr(nets, "inception" if "inception" in module else module)
        found.append(str(getattr(inside, name) is getattr(public, name)))
    return {"found": found}


def plain(value):
    if isinstance(value, dict):
        return {key: plain(one) for key, one in sorted(value.items())}
    return "..." if callable(value) or hasattr(value, "get_config") else value


@question
def arg_scopes():
    scopes = {
        "alexnet": nets.alexnet.alexnet_v2_arg_scope(),
        "overfeat": nets.overfeat.overfeat_arg_scope(),
        "vgg": nets.vgg.vgg_arg_scope(),
        "v1": inception.inception_v1_arg_scope(),
        "v1 without": inception.inception_v1_arg_scope(use_batch_norm=False),
        "v2": inception.inception_v2_arg_scope(batch_norm_var_collection="kept"),
        "v3": inception.inception_v3_arg_scope(),
        "v3 other": inception.inception_v3_arg_scope(0.1, "kept", 0.5, 0.1, None, False),
        "resnet": resnet_utils.resnet_arg_scope(),
        "resnet other": resnet_utils.resnet_arg_scope(0.1, 0.5, 0.1, False),
    }
    return {name: str([plain(one) for one in scope.values()]) for name, scope in scopes.items()}


@question
def no_decay():
    """Returns a factor of a whole number."""
    scopes = [nets.vgg.vgg_arg_scope, inception.inception_v1_arg_scope]
    return {"errors": [tried(scope, weight_decay=0) for scope in scopes]}


@question
def vgg_a():
    return built(nets.vgg.vgg_a, 5, size=224, scope=nets.vgg.vgg_arg_scope)


@question
def vgg_of_more_layers():
    made = {"is_training": False, "spatial_squeeze": False}
    sixteen, nineteen = built(nets.vgg.vgg_16, 5, **made), built(nets.vgg.vgg_19, 5, **made)
    return {"16": sixteen["points"], "19": nineteen["points"], "output": nineteen["output"]}


@question
def alexnet():
    return built(nets.alexnet.alexnet_v2, 5, size=224, scope=nets.alexnet.alexnet_v2_arg_scope)


@question
def overfeat():
    return built(nets.overfeat.overfeat, 5, size=231, scope=nets.overfeat.overfeat_arg_scope)


@question
def chains_of_other_sizes():
    """Smaller and larger pictures than a net is made for."""
    known = {}
    for net in (nets.vgg.vgg_a, nets.alexnet.alexnet_v2, nets.overfeat.overfeat):
        for size in (48, 256, None):
            for squeezed in (True, False):
                made = {"size": size, "spatial_squeeze": squeezed}
                said = tried(lambda net=net, made=made: built(net, 5, **made)["output"])
                known[f"{net.__name__} {size} {squeezed}"] = said
    return known


def again(net, size, **named):
    """Returns a net, and a second one with the same variables."""
    with tf.variable_scope("outer"):
        net(pictures(size), 5, **named)
    with tf.variable_scope("outer", reuse=True):
        return net(pictures(size), 5, **named)


@question
def chains_again():
    known = {}
    for net in (nets.vgg.vgg_a, nets.alexnet.alexnet_v2, nets.overfeat.overfeat):
        with tf.Graph().as_default():
            output, end_points = again(net, None)
            known[net.__name__] = [output.name] + listed(end_points) + members()
    return known


@question
def a_chain_twice():
    nets.alexnet.alexnet_v2(pictures(None), 5)
    nets.alexnet.alexnet_v2(pictures(None), 5)
    return {}


@question
def inception_v1():
    return built(inception.inception_v1, 5, size=224, scope=inception.inception_v1_arg_scope)


@question
def inception_v2():
    return built(inception.inception_v2, 5, size=224, scope=inception.inception_v2_arg_scope)


@question
def inception_v3():
    return built(inception.inception_v3, 5, size=299, scope=inception.inception_v3_arg_scope)


@question
def inception_without_scopes():
    known = {}
    for version, size in (("v2", 64), ("v3", 107)):
        about = short(built(VERSIONS[version][0], 5, size=size, spatial_squeeze=False))
        known.update({f"{version} {key}": one for key, one in about.items()})
    return known


@question
def inception_of_any_size():
    known = {}
    for version, (net, scope) in VERSIONS.items():
        made = {} if version == "v1" else {"depth_multiplier": 0.3, "min_depth": 4}
        about = built(net, 5, is_training=False, scope=scope, **made)
        known[version] = about["points"] + about["collections"] + about["variables"][-12:]
    return known


@question
def inception_again():
    """Builds the net again with the same variables, in a scope with another name."""
    net = inception.inception_v1
    net(pictures(None), 5, scope="name")
    output, end_points = net(pictures(None), 5, reuse=True, scope="name")
    again = listed(end_points)[-6:] + members()
    return {"again": [output.name] + again, "twice": tried(net, pictures(8), scope="name")}


@question
def ends_of_inception():
    known = {}
    for base in (
        inception.inception_v1_base,
        inception.inception_v2_base,
        inception.inception_v3_base,
    ):
        for end in ("MaxPool_3a_3x3", "Conv2d_1a_7x7"):
            made = {"final_endpoint": end, "scope": "name", "size": 32}
            said = tried(lambda base=base, made=made: built(base, **made)["points"])
            known[f"{base.__name__} {end}"] = said
    return known


@question
def an_end_of_inception_that_is_not():
    return built(inception.inception_v2_base, final_endpoint="Mixed_5d")


@question
def wrong_calls_of_inception():
    wrong = {
        "no depth": {"depth_multiplier": 0.0},
        "less depth": {"depth_multiplier": -1.0},
        "flat": {"inputs": tf.zeros([32, 32, 3])},
    }
    return {
        f"{version} {name}": tried(net, **dict({"inputs": pictures(224)}, **made))
        for version, (net, _) in VERSIONS.items()
        for name, made in wrong.items()
    }


@question
def an_activation_without_scope():
    return built(inception.inception_v1, 0, prediction_fn=tf.nn.sigmoid)


@question
def own_arg_scope():
    """Uses a user's arg_scope, which the nets' own arguments override."""

    def scope():
        given = {"normalizer_fn": slim.batch_norm, "activation_fn": tf.nn.elu}
        with slim.arg_scope([slim.conv2d], **given) as outer:
            pass
        with slim.arg_scope(outer), slim.arg_scope([slim.max_pool2d], padding="SAME") as both:
            return both

    known = {}
    for net, arguments in (
        (nets.vgg.vgg_a, []),
        (nets.alexnet.alexnet_v2, []),
        (nets.overfeat.overfeat, []),
        (inception.inception_v2, []),
        (V1.resnet_v1, [small(V1.resnet_v1_block)]),
        (V2.resnet_v2, [small(V2.resnet_v2_block)]),
    ):
        about = short(built(net, *(arguments + [5]), scope=scope))
        known[net.__name__] = [about[key] for key in ("output", "variables", "points")]
    return known


def beginnings(net, *arguments, **named):
    """Deviations of the weights that begin with a normal distribution, to their variables."""
    with tf.Graph().as_default() as graph, slim.arg_scope(named.pop("scope", dict)()):
        net(pictures(None), *(arguments + (5,)), **named)
        found = {}
        for op in graph.get_operations():
            if op.name.endswith("truncated_normal/stddev"):
                deviation = format(float(slim.utils.constant_value(op.outputs[0])), ".4g")
                found.setdefault(deviation, []).append(op.name.split("/Initializer")[0])
        return {key: " ".join(sorted(names)) for key, names in found.items()}


@question
def weights_begin():
    """Asks for the initial weights that the scopes of the nets set."""
    found = [beginnings(net) for net, _ in VERSIONS.values()]
    found += [beginnings(nets.alexnet.alexnet_v2), beginnings(nets.overfeat.overfeat)]
    return {"found": [short_of(str(sorted(one.items()))) for one in found]}


def short_of(text):
    return text if len(text) < 1000 else text[:700] + hashlib.md5(text.encode()).hexdigest()


@question
def weights_begin_with_arg_scopes():
    """Asks for the initial weights under arg_scopes, which those of the nets override."""
    blocks = [V2.resnet_v2_block("one", 3, 1, 1)]
    found = [beginnings(inception.inception_v2, scope=inception.inception_v2_arg_scope)]
    found += [beginnings(nets.alexnet.alexnet_v2, scope=nets.alexnet.alexnet_v2_arg_scope)]
    found += [beginnings(V2.resnet_v2, blocks, scope=resnet_utils.resnet_arg_scope)]
    return {"found": [short_of(str(sorted(one.items()))) for one in found]}


@question
def biases_begin():
    with tf.Graph().as_default(), tf.Session() as session:
        nets.alexnet.alexnet_v2(pictures(None), 5)
        nets.overfeat.overfeat(pictures(None), 5)
        biases = [one for one in tf.global_variables() if one.op.name.endswith("biases")]
        session.run([one.initializer for one in biases])
        firsts = session.run({one.op.name: one[0] for one in biases})
    return {name: float(first) for name, first in firsts.items()}


@question
def resnet_v1_50():
    scope = resnet_utils.resnet_arg_scope
    return built(V1.resnet_v1_50, 5, size=224, scope=scope)


@question
def resnet_v2_50():
    scope = resnet_utils.resnet_arg_scope
    made = {"is_training": False, "global_pool": False, "output_stride": 8}
    return built(V2.resnet_v2_50, size=224, scope=scope, **made)


@question
def deeper_resnets():
    known = {}
    for net in (V1.resnet_v1_101, V1.resnet_v1_152, V2.resnet_v2_200):
        about = short(built(net, None, False, size=65))
        known.update({f"{net.__name__} {key}": one for key, one in about.items()})
    return known


@question
def blocks_of_resnets():
    block, other = V1.resnet_v1_block("b", 3, 3, 2), V2.resnet_v2_block("b", 3, 1, 2)
    return {
        "strides": [one["stride"] for one in block.args],
        "sizes": str(sorted(other.args[0].items())),
        "scope": other.scope,
        "units": [one.unit_fn.__name__ for one in (block, other)],
        "fields": list(resnet_utils.Block._fields),
    }


@question
def output_strides():
    known = {}
    for stride in (2, 4, 8, 16, 32):
        for root in (True, False):
            made = {"output_stride": stride, "include_root_block": root, "global_pool": False}
            made.update(blocks=small(V1.resnet_v1_block), size=33)
            said = tried(lambda made=made: built(V1.resnet_v1, **made)["output"])
            known[f"{stride} {root}"] = said
    return known


@question
def resnets_again():
    known = {}
    for version, (net, block) in RESIDUAL.items():
        with tf.Graph().as_default():
            with tf.variable_scope("outer"):
                net(pictures(32), small(block), 3)
            with tf.variable_scope("outer", reuse=True):
                output, end_points = net(pictures(None), small(block), 3)
            known[version] = [output.name] + listed(end_points) + members()
    return known


@question
def wrong_calls_of_resnets():
    def flat(net, block):
        return net(tf.zeros([8, 8, 3]), small(block))

    def unit(module, *shape):
        return module.bottleneck(tf.placeholder(tf.float32, shape), 4, 1, 1).name

    found = {"flat unit": tried(unit, V1, 8, 8, 3), "unknown": tried(unit, V1, 1, 8, 8, None)}
    found["a unit"] = tried(unit, V2, 1, 8, 8, 3)
    for version, (net, block) in RESIDUAL.items():
        found[version] = tried(flat, net, block)
    return found


@question
def parts_of_resnets():
    x = tf.constant(numbers(1, 5, 6, 2))
    outputs = {
        "every second": resnet_utils.subsample(x, 2),
        "every": resnet_utils.subsample(x, 1),
        "stride": resnet_utils.conv2d_same(x, 2, 3, 2, scope="a"),
        "larger": resnet_utils.conv2d_same(x, 2, 4, 3, scope="b"),
        "dilated": resnet_utils.conv2d_same(x, 2, 3, 1, rate=2, scope="c"),
    }
    return dict(outputs, names=[one.op.name for one in outputs.values()])


@question
def stride_and_rate():
    return {"both": resnet_utils.conv2d_same(tf.constant(numbers(1, 9, 9, 2)), 2, 3, 2, rate=2)}


def unit_of_ones(net, rate, stride, more=1.0):
    return tf.add(net[:, ::stride] * rate, more, name="sum")


@question
def blocks_of_own_units():
    x = tf.constant(numbers(1, 16))
    units = [{"stride": 2}, {"stride": 4, "more": 0.5}, {"stride": 2}, {"stride": 1}]
    blocks = [resnet_utils.Block("first", unit_of_ones, units[:2])]
    blocks += [resnet_utils.Block("second", unit_of_ones, units[2:])]
    made = {"outputs_collections": "points"}
    output = resnet_utils.stack_blocks_dense(x, blocks, **made)
    dilated = resnet_utils.stack_blocks_dense(x, blocks, 2)
    points = slim.utils.convert_collection_to_dict("points")
    return {
        "output": output,
        "dilated": dilated,
        "names": [output.name, dilated.name],
        "points": [f"{key} {one.name}" for key, one in points.items()],
    }


if __name__ == "__main__":
    main()
