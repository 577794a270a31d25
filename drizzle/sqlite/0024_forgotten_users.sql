ALTER TABLE `events` ADD `user_id` text;--> statement-breakpoint
CREATE INDEX `events_of_user` ON `events` (`project_id`,`user_id`,`id`);--> statement-breakpoint
CREATE INDEX `api_keys_of_user` ON `api_keys` (`project_id`,`user_id`,`id`);