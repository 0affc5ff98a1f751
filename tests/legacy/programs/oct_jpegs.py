# The second half of the notebook: JPEGs of a class a folder into VGG16 with frozen layers.
import os

import tensorflow as tf

DATA_DIR = os.environ["DATA_DIR"]
MODEL_DIR = os.environ["MODEL_DIR"]
SIDE = 32
BATCH_SIZE = 4
NUM_CLASSES = 2
tf.logging.set_verbosity(tf.logging.ERROR)


def input_fn(file_pattern, labels, image_size=(SIDE, SIDE), shuffle=False, num_epochs=None,
             buffer_size=4096, batch_size=BATCH_SIZE, prefetch_buffer_size=None):  # fmt: skip
    table = tf.contrib.lookup.index_table_from_tensor(mapping=tf.constant(labels))
    num_classes = len(labels)

    def _map_func(filename):
        label = tf.string_split([filename], delimiter=os.sep).values[-2]
        image = tf.image.decode_jpeg(tf.read_file(filename), channels=3)
        image = tf.image.convert_image_dtype(image, dtype=tf.float32)
        image = tf.image.resize_images(image, size=image_size)
        return (image, tf.one_hot(table.lookup(label), num_classes))

    dataset = tf.data.Dataset.list_files(file_pattern, shuffle=shuffle)
    if num_epochs is not None and shuffle:
        dataset = dataset.apply(tf.contrib.data.shuffle_and_repeat(buffer_size, num_epochs))
    elif shuffle:
        dataset = dataset.shuffle(buffer_size)
    elif num_epochs is not None:
        dataset = dataset.repeat(num_epochs)
    dataset = dataset.apply(
        tf.contrib.data.map_and_batch(
            map_func=_map_func, batch_size=batch_size, num_parallel_calls=os.cpu_count()
        )
    )
    return dataset.prefetch(buffer_size=prefetch_buffer_size)


keras_vgg16 = tf.keras.applications.VGG16(
    input_shape=(SIDE, SIDE, 3), include_top=False, weights=None
)
output = keras_vgg16.output
output = tf.keras.layers.Flatten()(output)
prediction = tf.keras.layers.Dense(NUM_CLASSES, activation=tf.nn.softmax)(output)
model = tf.keras.Model(inputs=keras_vgg16.input, outputs=prediction)
for layer in keras_vgg16.layers[:-4]:
    layer.trainable = False
model.compile(
    loss="categorical_crossentropy",
    optimizer=tf.train.AdamOptimizer(learning_rate=0.001),
    metrics=["accuracy"],
)
config = tf.estimator.RunConfig(model_dir=MODEL_DIR)
estimator = tf.keras.estimator.model_to_estimator(model, config=config)
names = estimator.get_variable_names() if tf.train.latest_checkpoint(MODEL_DIR) else []

labels = sorted(os.listdir(DATA_DIR))
folder = os.path.join(DATA_DIR, "*", "*.jpg")
estimator.train(lambda: input_fn(folder, labels, shuffle=True, num_epochs=2), max_steps=4)
with tf.Session() as sess:
    frozen = "block1_conv1/kernel"
    trained = "block5_conv3/kernel"
    before = tf.train.load_variable(os.path.join(MODEL_DIR, "keras"), frozen)
    print("frozen stays", (before == estimator.get_variable_value(frozen)).all())
    before = tf.train.load_variable(os.path.join(MODEL_DIR, "keras"), trained)
    print("last is trained", (before != estimator.get_variable_value(trained)).any())
print("RESULT", estimator.evaluate(lambda: input_fn(folder, labels, num_epochs=1)))
